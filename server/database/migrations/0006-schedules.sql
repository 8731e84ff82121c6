-- When vals run by themselves. All of it goes by the clock of the database, which is the only one that all servers share.

CREATE TYPE schedule_overlap AS ENUM ('skip', 'queue');
CREATE TYPE schedule_missed AS ENUM ('skip', 'once');

CREATE TABLE schedules (
  val_id uuid PRIMARY KEY,
  owner_id uuid NOT NULL,
  cron text NOT NULL,
  time_zone text NOT NULL,
  overlap schedule_overlap NOT NULL,
  missed schedule_missed NOT NULL,
  enabled boolean NOT NULL,
  -- The planned time that is next. NULL: disabled, or there is none any more.
  next_at timestamptz,
  -- What the clock showed when next_at was found. Where that lies ahead, the clock has been put back since.
  computed_at timestamptz NOT NULL,
  last_run_at timestamptz,
  last_missed_at timestamptz
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX schedules_due ON schedules (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX schedules_computed ON schedules (computed_at) WHERE next_at IS NOT NULL;

-- Whether the run before is over, however many others of the val wait.
CREATE INDEX queue_of_schedules ON queue (val_id) WHERE source = 'schedule';

-- fired: there is a run. skipped: the run before it was not over. missed: nobody was there in time. refused: its owner
-- had too many runs in the queue.
CREATE TYPE firing_outcome AS ENUM ('fired', 'skipped', 'missed', 'refused');

-- What became of each planned time. The primary key is why it fires once: whatever servers, crashes and clocks do, only
-- who writes its row may enqueue a run for it, in the same transaction.
CREATE TABLE firings (
  val_id uuid NOT NULL,
  planned_at timestamptz NOT NULL,
  owner_id uuid NOT NULL,
  outcome firing_outcome NOT NULL,
  run_id uuid,
  -- Of what was missed, one row has all planned times from planned_at to this one, and how many they are; NULL: very many.
  through_at timestamptz,
  count integer,
  decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (val_id, planned_at)
);
-- The oldest are deleted.
CREATE INDEX firings_by_age ON firings (planned_at);
