-- Every request asks for one run; the answer comes once it waits in the queue.
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["authorization"] = "Bearer " .. os.getenv("TOKEN")
wrk.body = '{"args":[1]}'
