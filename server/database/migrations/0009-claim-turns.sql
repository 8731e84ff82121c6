-- Claims as before, and three things more: whoever was looked at had their turn also if they could be given nothing,
-- so that nobody waits behind many who may not run yet; how much is looked at is bounded, whatever waits; and the
-- arguments are read together with the queue, as one moment shows both.
DROP FUNCTION claim_runs;

-- Gives a runner up to `wanted` runs that are due. Owners take turns, beginning after `after_owner`, and so do the vals
-- of each, beginning after the one that `after_vals` names for its owner: everybody's first run comes before anybody's
-- second. No owner and no val has more at once than its bound. It walks from one owner to the next along the index, so
-- that what it costs does not depend on how much waits.
--
-- The rows are in the order of the turns: after the last one is where the next walk begins. Rows without a run name
-- whom a walk came to last; they are there if it ended before it had seen all, and gave all that it saw.
CREATE FUNCTION claim_runs(
  claiming_runner uuid, number bigint, wanted integer, bytes_max integer,
  owner_runs_max integer, val_runs_max integer, after_owner uuid, after_vals jsonb
) RETURNS TABLE (run_id uuid, owner_id uuid, val_id uuid, source run_source, args jsonb)
  -- Planned while little waits, it is used while much does: a bitmap of all that waits would be sorted for ten of it.
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
      coalesce((after_vals ->> o.owner_id::text)::uuid, lowest) AS after_val,
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
    WHERE running.count < val_runs_max AND EXISTS (
      SELECT FROM queue q
      WHERE q.owner_id = w.owner_id AND q.val_id = w.val_id AND q.runner_id IS NULL AND q.due_at <= now())
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
        WHERE q.owner_id = w.owner_id AND q.val_id = w.val_id AND q.runner_id IS NULL AND q.due_at <= now()
        ORDER BY q.due_at, q.run_id LIMIT least(w.room, w.owner_room, w.share)
      ) q
    ) c
  ), in_turn AS (
    SELECT c.*, row_number() OVER turns AS place, sum(c.args_bytes) OVER turns AS bytes
    FROM candidates c WHERE c.turn <= c.owner_room WINDOW turns AS (ORDER BY c.turn, c.owner_step)
  ), chosen AS (
    SELECT c.run_id, c.place FROM in_turn c WHERE c.place <= wanted AND (c.bytes <= bytes_max OR c.place = 1)
  ), free AS (
    -- Somebody may be about to cancel one of them.
    SELECT q.run_id, c.place FROM chosen c JOIN queue q ON q.run_id = c.run_id
    WHERE q.runner_id IS NULL FOR UPDATE OF q SKIP LOCKED
  ), claimed AS (
    UPDATE queue q SET runner_id = claiming_runner, claim_number = number, claimed_at = now()
    FROM free WHERE q.run_id = free.run_id
    RETURNING q.run_id, q.owner_id, q.val_id, q.source, free.place
  ), walk_ends (owner_id, val_id, step) AS (
    SELECT w.owner_id, (array_agg(w.val_id ORDER BY w.val_step DESC))[1], w.owner_step FROM vals_walked w
    GROUP BY w.owner_id, w.owner_step, w.vals_max HAVING count(*) = w.vals_max
    UNION ALL
    SELECT (array_agg(o.owner_id ORDER BY o.step DESC))[1], NULL, 2 * walked + 1 FROM owners_walked o
    HAVING count(*) = walked
  )
  SELECT t.run_id, t.owner_id, t.val_id, t.source, d.args FROM (
    SELECT c.run_id, c.owner_id, c.val_id, c.source, c.place FROM claimed c
    UNION ALL
    SELECT NULL, e.owner_id, e.val_id, NULL, wanted + e.step FROM walk_ends e
    WHERE (SELECT count(*) FROM chosen) = (SELECT count(*) FROM in_turn)
  ) t LEFT JOIN run_details d ON d.id = t.run_id ORDER BY t.place;
END $$;
