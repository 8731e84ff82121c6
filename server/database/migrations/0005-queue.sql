-- Runs that are not over, beside the history: a run has a row in here exactly as long as it waits or runs. Whoever
-- deletes the row ends the run, in the same statement; so a run ends once, whoever tries.
CREATE TABLE queue (
  run_id uuid PRIMARY KEY,
  owner_id uuid NOT NULL,
  val_id uuid NOT NULL,
  source run_source NOT NULL,
  -- Not before this: a retry waits for a while.
  due_at timestamptz NOT NULL,
  -- Of the arguments as JSON: so much travels in one message.
  args_bytes integer NOT NULL,
  attempt smallint NOT NULL,
  -- How often it may be tried at the most, and how long the first pause is.
  attempts smallint NOT NULL,
  backoff_ms integer NOT NULL,
  -- NULL while it waits; then who runs it, and by which of that runner's claims.
  runner_id uuid,
  claim_number bigint,
  claimed_at timestamptz,
  cancel_requested boolean NOT NULL DEFAULT false
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);
-- Who waits: by owner, then by val, then in order. What runs: by owner and val, and by runner.
CREATE INDEX queue_waiting ON queue (owner_id, val_id, due_at, run_id) WHERE runner_id IS NULL;
CREATE INDEX queue_running ON queue (owner_id, val_id) WHERE runner_id IS NOT NULL;
CREATE INDEX queue_of_runner ON queue (runner_id, run_id) WHERE runner_id IS NOT NULL;

-- Runners that have claimed something. `beat` grows with each sign of life: whoever watches it needs no clock but
-- their own, so that no step of any clock makes a runner look dead.
CREATE TABLE runners (
  runner_id uuid PRIMARY KEY,
  beat bigint NOT NULL
) WITH (fillfactor = 50);

-- How often failed runs of a val are tried; without a row once.
CREATE TABLE retry_policies (
  val_id uuid PRIMARY KEY,
  owner_id uuid NOT NULL,
  attempts smallint NOT NULL,
  backoff_ms integer NOT NULL
);

-- returnValue is only the beginning of what was returned.
ALTER TABLE run_details ADD COLUMN return_value_cut boolean;

CREATE FUNCTION next_waiting_owner(after_owner uuid) RETURNS uuid
  LANGUAGE sql STABLE AS $$
  SELECT q.owner_id FROM queue q WHERE q.runner_id IS NULL AND q.owner_id > after_owner
  ORDER BY q.owner_id LIMIT 1
$$;

CREATE FUNCTION next_waiting_val(of_owner uuid, after_val uuid) RETURNS uuid
  LANGUAGE sql STABLE AS $$
  SELECT q.val_id FROM queue q WHERE q.runner_id IS NULL AND q.owner_id = of_owner AND q.val_id > after_val
  ORDER BY q.val_id LIMIT 1
$$;

-- Gives a runner up to `wanted` runs that are due. Owners take turns, beginning after `after_owner`, and so do the vals
-- of each, beginning after the one that `after_vals` names for its owner: everybody's first run comes before anybody's
-- second. No owner and no val has more at once than its bound. It walks from one owner to the next along the index, so
-- that what it costs does not depend on how much waits.
CREATE FUNCTION claim_runs(
  claiming_runner uuid, number bigint, wanted integer, bytes_max integer,
  owner_runs_max integer, val_runs_max integer, after_owner uuid, after_vals jsonb
) RETURNS TABLE (
  run_id uuid, owner_id uuid, val_id uuid, source run_source, owner_step integer, val_step integer)
  LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  lowest constant uuid := '00000000-0000-0000-0000-000000000000';
  walked constant integer := 64;
BEGIN
  -- One claim after the other, of all servers: only so are the bounds exact. What follows sees what the last one did.
  PERFORM pg_advisory_xact_lock(7326005);
  INSERT INTO runners AS r VALUES (claiming_runner, 1)
    ON CONFLICT (runner_id) DO UPDATE SET beat = r.beat + 1;
  RETURN QUERY
  WITH RECURSIVE rest_of_lap (owner_id, step) AS (
    SELECT next_waiting_owner(after_owner), 1
    UNION ALL
    SELECT next_waiting_owner(o.owner_id), o.step + 1 FROM rest_of_lap o
    WHERE o.owner_id IS NOT NULL AND o.step < walked
  ), next_lap (owner_id, step) AS (
    SELECT next_waiting_owner(lowest), walked + 1
    UNION ALL
    SELECT next_waiting_owner(o.owner_id), o.step + 1 FROM next_lap o
    WHERE o.owner_id IS NOT NULL AND o.step < 2 * walked
  ), owners AS (
    SELECT o.owner_id, o.step, owner_runs_max - running.count AS room,
      coalesce((after_vals ->> o.owner_id::text)::uuid, lowest) AS after_val
    FROM (
      SELECT * FROM rest_of_lap WHERE owner_id IS NOT NULL
      UNION ALL SELECT * FROM next_lap WHERE owner_id <= after_owner
      ORDER BY step LIMIT walked
    ) o CROSS JOIN LATERAL (
      SELECT count(*)::integer FROM queue q WHERE q.owner_id = o.owner_id AND q.runner_id IS NOT NULL
    ) running
    WHERE running.count < owner_runs_max
  ), vals_waiting AS (
    SELECT o.owner_id, o.step AS owner_step, o.room AS owner_room, v.val_id, v.step AS val_step,
      val_runs_max - running.count AS room
    FROM owners o CROSS JOIN LATERAL (
      WITH RECURSIVE rest (val_id, step) AS (
        SELECT next_waiting_val(o.owner_id, o.after_val), 1
        UNION ALL
        SELECT next_waiting_val(o.owner_id, w.val_id), w.step + 1 FROM rest w
        WHERE w.val_id IS NOT NULL AND w.step < walked
      ), again (val_id, step) AS (
        SELECT next_waiting_val(o.owner_id, lowest), walked + 1
        UNION ALL
        SELECT next_waiting_val(o.owner_id, w.val_id), w.step + 1 FROM again w
        WHERE w.val_id IS NOT NULL AND w.step < 2 * walked
      )
      SELECT * FROM rest WHERE val_id IS NOT NULL
      UNION ALL SELECT * FROM again WHERE val_id <= o.after_val
      ORDER BY step LIMIT walked
    ) v CROSS JOIN LATERAL (
      SELECT count(*)::integer FROM queue q
      WHERE q.owner_id = o.owner_id AND q.val_id = v.val_id AND q.runner_id IS NOT NULL
    ) running
    WHERE running.count < val_runs_max
  ), candidates AS (
    SELECT c.*, row_number() OVER (PARTITION BY c.owner_id ORDER BY c.turn_in_val, c.val_step) AS turn
    FROM (
      SELECT w.owner_id, w.owner_step, w.owner_room, w.val_step, q.run_id, q.args_bytes,
        row_number() OVER (PARTITION BY w.owner_id, w.val_id ORDER BY q.due_at, q.run_id) AS turn_in_val
      FROM vals_waiting w CROSS JOIN LATERAL (
        SELECT q.run_id, q.due_at, q.args_bytes FROM queue q
        WHERE q.owner_id = w.owner_id AND q.val_id = w.val_id AND q.runner_id IS NULL AND q.due_at <= now()
        ORDER BY q.due_at, q.run_id LIMIT least(w.room, w.owner_room, wanted)
      ) q
    ) c
  ), chosen AS (
    SELECT c.run_id, c.owner_step, c.val_step FROM (
      SELECT c.*, row_number() OVER in_turn AS place, sum(c.args_bytes) OVER in_turn AS bytes
      FROM candidates c WHERE c.turn <= c.owner_room WINDOW in_turn AS (ORDER BY c.turn, c.owner_step)
    ) c WHERE c.place <= wanted AND (c.bytes <= bytes_max OR c.place = 1)
  ), free AS (
    -- Somebody may be about to cancel one of them.
    SELECT q.run_id, c.owner_step, c.val_step FROM chosen c JOIN queue q ON q.run_id = c.run_id
    WHERE q.runner_id IS NULL FOR UPDATE OF q SKIP LOCKED
  )
  UPDATE queue q SET runner_id = claiming_runner, claim_number = number, claimed_at = now()
  FROM free WHERE q.run_id = free.run_id
  RETURNING q.run_id, q.owner_id, q.val_id, q.source, free.owner_step, free.val_step;
END $$;
