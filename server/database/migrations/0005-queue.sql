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

-- When a run was claimed; NULL while it waits, and once it is over. Looked up by a list of runs for those of its rows that
-- are not over: to the planner it costs next to nothing, whereas a join would be planned for every list anew, or once, as
-- a walk over the whole queue.
CREATE FUNCTION claimed_at_of(of_run uuid) RETURNS timestamptz
  LANGUAGE plpgsql STABLE COST 1 AS $$
BEGIN
  RETURN (SELECT q.claimed_at FROM queue q WHERE q.run_id = of_run);
END $$;

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

-- Where a walk along an owner's vals begins if nobody remembers where the last one ended: anywhere, so that no val is
-- always behind others that may not run yet. Ids order by time, so a time between the first and the last will do.
CREATE FUNCTION somewhere_among_vals(of_owner uuid) RETURNS uuid
  LANGUAGE sql VOLATILE AS $$
  SELECT uuid_floor(uuid_time(first) + random() * (uuid_time(last) - uuid_time(first))) FROM (SELECT
    (SELECT q.val_id FROM queue q WHERE q.runner_id IS NULL AND q.owner_id = of_owner
      ORDER BY q.val_id LIMIT 1) AS first,
    (SELECT q.val_id FROM queue q WHERE q.runner_id IS NULL AND q.owner_id = of_owner
      ORDER BY q.val_id DESC LIMIT 1) AS last) ends
$$;

-- Gives a runner up to `wanted` runs that are due; a first attempt always is, also if a clock was put back since.
-- Owners take turns, beginning after `after_owner`, and so do the vals of each, beginning after the one that `after_vals`
-- names for its owner: everybody's first run comes before anybody's second. No owner and no val has more at once than
-- its bound; of one val it gives `val_wanted` at the most, and none of `except_vals`, of which the runner has more
-- already than it can begin. It walks from one owner to the next along the index, so that what it costs does not depend
-- on how much waits.
--
-- The rows are in the order of the turns: after the last one is where the next walk begins. Rows without a run name
-- whom a walk came to last; they are there if it ended before it had seen all, and gave all that it saw.
CREATE FUNCTION claim_runs(
  claiming_runner uuid, number bigint, wanted integer, bytes_max integer,
  owner_runs_max integer, val_runs_max integer, after_owner uuid, after_vals jsonb,
  val_wanted integer, except_vals uuid[]
) RETURNS TABLE (run_id uuid, owner_id uuid, val_id uuid, source run_source, args jsonb)
  -- Planned while little waits, it is used while much does. A bitmap of all that waits would be sorted for ten of it;
  -- and what is looked up is asked for in ways that cannot be turned into a join with all that waits.
  LANGUAGE plpgsql SET enable_bitmapscan = off AS $$
#variable_conflict use_column
DECLARE
  lowest constant uuid := '00000000-0000-0000-0000-000000000000';
  walked constant integer := 64;
  vals_walked_in_all constant integer := 512;
  vals_walked_each constant integer := 8;
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
  ), owners_walked AS (
    SELECT * FROM rest_of_lap WHERE owner_id IS NOT NULL
    UNION ALL SELECT * FROM next_lap WHERE owner_id <= after_owner
    ORDER BY step LIMIT walked
  ), owners AS (
    SELECT o.owner_id, o.step, owner_runs_max - running.count AS room,
      coalesce((after_vals ->> o.owner_id::text)::uuid, somewhere_among_vals(o.owner_id)) AS after_val,
      greatest(vals_walked_each, vals_walked_in_all / count(*) OVER ()) AS vals_max
    FROM owners_walked o CROSS JOIN LATERAL (
      SELECT count(*)::integer FROM queue q WHERE q.owner_id = o.owner_id AND q.runner_id IS NOT NULL
    ) running
    WHERE running.count < owner_runs_max
  ), vals_walked AS (
    SELECT o.owner_id, o.step AS owner_step, o.room AS owner_room, o.vals_max, v.val_id, v.step AS val_step
    FROM owners o CROSS JOIN LATERAL (
      WITH RECURSIVE rest (val_id, step) AS (
        SELECT next_waiting_val(o.owner_id, o.after_val), 1::bigint
        UNION ALL
        SELECT next_waiting_val(o.owner_id, w.val_id), w.step + 1 FROM rest w
        WHERE w.val_id IS NOT NULL AND w.step < o.vals_max
      ), again (val_id, step) AS (
        SELECT next_waiting_val(o.owner_id, lowest), o.vals_max + 1
        UNION ALL
        SELECT next_waiting_val(o.owner_id, w.val_id), w.step + 1 FROM again w
        WHERE w.val_id IS NOT NULL AND w.step < 2 * o.vals_max
      )
      SELECT * FROM rest WHERE val_id IS NOT NULL
      UNION ALL SELECT * FROM again WHERE val_id <= o.after_val
      ORDER BY step LIMIT o.vals_max
    ) v
  ), vals_due AS (
    SELECT w.*, val_runs_max - running.count AS room
    FROM vals_walked w CROSS JOIN LATERAL (
      SELECT count(*)::integer FROM queue q
      WHERE q.owner_id = w.owner_id AND q.val_id = w.val_id AND q.runner_id IS NOT NULL
    ) running
    WHERE running.count < val_runs_max AND w.val_id <> ALL(except_vals) AND (
      SELECT true FROM queue q
      WHERE q.owner_id = w.owner_id AND q.val_id = w.val_id AND q.runner_id IS NULL AND (q.attempt = 1 OR q.due_at <= now())
      LIMIT 1)
  ), shares AS (
    -- An owner's share of what is wanted, and a val's of that: of more than that no more is looked at.
    SELECT w.*, ceil(
      ceil(wanted::float8 / (SELECT count(DISTINCT owner_id) FROM vals_due))
        / count(*) OVER (PARTITION BY w.owner_id))::integer AS share
    FROM vals_due w
  ), candidates AS (
    SELECT c.*, row_number() OVER (PARTITION BY c.owner_id ORDER BY c.turn_in_val, c.val_step) AS turn
    FROM (
      SELECT w.owner_id, w.owner_step, w.owner_room, w.val_step, q.run_id, q.args_bytes,
        row_number() OVER (PARTITION BY w.owner_id, w.val_id ORDER BY q.due_at, q.run_id) AS turn_in_val
      FROM shares w CROSS JOIN LATERAL (
        SELECT q.run_id, q.due_at, q.args_bytes FROM queue q
        WHERE q.owner_id = w.owner_id AND q.val_id = w.val_id AND q.runner_id IS NULL AND (q.attempt = 1 OR q.due_at <= now())
        ORDER BY q.due_at, q.run_id LIMIT least(w.room, w.owner_room, w.share, val_wanted)
      ) q
    ) c
  ), in_turn AS (
    SELECT c.*, row_number() OVER turns AS place, sum(c.args_bytes) OVER turns AS bytes
    FROM candidates c WHERE c.turn <= c.owner_room WINDOW turns AS (ORDER BY c.turn, c.owner_step)
  ), chosen AS (
    SELECT c.run_id, c.place FROM in_turn c WHERE c.place <= wanted AND (c.bytes <= bytes_max OR c.place = 1)
  ), free AS (
    -- Somebody may be about to cancel one of them. That none has a runner is sure: only claims give them one.
    SELECT q.run_id FROM queue q WHERE q.run_id = ANY(ARRAY(SELECT c.run_id FROM chosen c)) FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE queue q SET runner_id = claiming_runner, claim_number = number, claimed_at = now()
    WHERE q.run_id = ANY(ARRAY(SELECT f.run_id FROM free f))
    RETURNING q.run_id, q.owner_id, q.val_id, q.source
  ), walk_ends (owner_id, val_id, step) AS (
    SELECT w.owner_id, (array_agg(w.val_id ORDER BY w.val_step DESC))[1], w.owner_step FROM vals_walked w
    GROUP BY w.owner_id, w.owner_step, w.vals_max HAVING count(*) = w.vals_max
    UNION ALL
    SELECT (array_agg(o.owner_id ORDER BY o.step DESC))[1], NULL, 2 * walked + 1 FROM owners_walked o
    HAVING count(*) = walked
  )
  SELECT t.run_id, t.owner_id, t.val_id, t.source, (SELECT d.args FROM run_details d WHERE d.id = t.run_id) FROM (
    SELECT c.run_id, c.owner_id, c.val_id, c.source,
      array_position(ARRAY(SELECT h.run_id FROM chosen h ORDER BY h.place), c.run_id) FROM claimed c
    UNION ALL
    SELECT NULL, e.owner_id, e.val_id, NULL, wanted + e.step FROM walk_ends e
    WHERE (SELECT count(*) FROM chosen) = (SELECT count(*) FROM in_turn)
  ) t (run_id, owner_id, val_id, source, place) ORDER BY t.place;
END $$;
