-- Whom a val tells when its runs fail: a webhook, at most once in each quiet period. The secret that deliveries are
-- signed with is kept like a variable's value: sealed, for this row only, with a key that the database never sees.
CREATE TABLE alerts (
  val_id uuid PRIMARY KEY,
  owner_id uuid NOT NULL,
  url text NOT NULL,
  quiet_ms integer NOT NULL,
  -- Of the secret: another one when that is made anew.
  id uuid NOT NULL,
  key_id text NOT NULL,
  sealed_value bytea NOT NULL,
  last_raised_at timestamptz,
  -- How the last attempt of a delivery fared; NULL before there was one.
  last_attempt_at timestamptz,
  last_attempt_ok boolean,
  last_attempt_status integer,
  last_attempt_message text
);
-- Which keys are in use, and what is left to be sealed anew after a change of keys.
CREATE UNIQUE INDEX alerts_by_key ON alerts (key_id, id);

-- Alerts that were raised and are still to be delivered; a row goes once it is, or was tried often enough. They are few
-- for each val, so that they may go together with its alerts.
CREATE TABLE deliveries (
  id uuid PRIMARY KEY,
  owner_id uuid NOT NULL,
  val_id uuid NOT NULL REFERENCES alerts ON DELETE CASCADE,
  -- What is told of the run.
  run jsonb NOT NULL,
  silenced_until timestamptz NOT NULL,
  -- Whoever takes it moves this ahead first, so that nobody else does meanwhile.
  due_at timestamptz NOT NULL,
  attempts_left integer NOT NULL
);
-- What is due, for one owner after the other.
CREATE INDEX deliveries_of_owner ON deliveries (owner_id, due_at);
CREATE INDEX deliveries_by_val ON deliveries (val_id);
