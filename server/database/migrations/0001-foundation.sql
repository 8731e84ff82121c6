-- Ids are UUIDv7: they order by time, so one index serves identity, order and time range, and the moment of
-- creation is not stored a second time. Lists read (owner, id) backwards.
--
-- There are no foreign keys to vals: a deleted val vanishes with its one row (every list joins vals), and what
-- hung on it is purged in bounded batches afterwards. Writers lock the val's row, so nothing is added meanwhile.

CREATE EXTENSION pg_trgm;
CREATE EXTENSION btree_gin;

CREATE FUNCTION uuid_time(id uuid) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN to_timestamp(('x' || lpad(left(replace(id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0);

-- The lowest UUID of a moment: where a day's partition begins.
CREATE FUNCTION uuid_floor(moment timestamptz) RETURNS uuid
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN rpad(lpad(to_hex(floor(extract(epoch FROM moment) * 1000)::bigint), 12, '0'), 32, '0')::uuid;

CREATE TABLE users (
  id uuid PRIMARY KEY,
  username text NOT NULL UNIQUE,
  email text,
  bio text,
  profile_image_url text
);

CREATE TABLE tokens (
  id uuid PRIMARY KEY,
  owner_id uuid NOT NULL REFERENCES users,
  hash bytea NOT NULL UNIQUE,
  name text NOT NULL,
  -- NULL: every scope, also those that are yet to come.
  scopes text[],
  expires_at timestamptz,
  last_used_at timestamptz
);
CREATE INDEX tokens_of_owner ON tokens (owner_id, id);

-- Each distinct text once, however many versions have it.
CREATE TABLE codes (
  hash bytea PRIMARY KEY,
  code text NOT NULL
);

CREATE TYPE val_privacy AS ENUM ('public', 'unlisted', 'private');
CREATE TYPE val_type AS ENUM ('script', 'http');

CREATE TABLE vals (
  id uuid PRIMARY KEY,
  owner_id uuid NOT NULL REFERENCES users,
  name text NOT NULL,
  privacy val_privacy NOT NULL,
  type val_type NOT NULL,
  readme text,
  -- The current version, copied here so that reading a val needs no look at its versions.
  version integer NOT NULL,
  code_hash bytea NOT NULL,
  version_created_at timestamptz NOT NULL,
  -- The highest number ever given: a number is not given twice, also after its version was deleted.
  last_version integer NOT NULL,
  -- Grows with every change, by a millisecond at least: with the version it makes the ETag.
  updated_at timestamptz NOT NULL,
  like_count integer NOT NULL DEFAULT 0,
  reference_count integer NOT NULL DEFAULT 0
) WITH (fillfactor = 85);
CREATE UNIQUE INDEX vals_of_owner ON vals (owner_id, id);
CREATE UNIQUE INDEX vals_by_name ON vals (owner_id, lower(name));
CREATE INDEX vals_public_of_owner ON vals (owner_id, id) WHERE privacy = 'public';

CREATE TABLE versions (
  owner_id uuid NOT NULL,
  val_id uuid NOT NULL,
  version integer NOT NULL,
  code_hash bytea NOT NULL REFERENCES codes,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (owner_id, val_id, version)
);
CREATE INDEX versions_by_code ON versions (code_hash);

CREATE TABLE likes (
  user_id uuid NOT NULL,
  val_id uuid NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (user_id, val_id)
);
CREATE UNIQUE INDEX likes_of_user ON likes (user_id, id);
CREATE INDEX likes_of_val ON likes (val_id);

CREATE TABLE comments (
  id uuid PRIMARY KEY,
  author_id uuid NOT NULL,
  val_id uuid NOT NULL,
  val_owner_id uuid NOT NULL,
  comment text NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX comments_given ON comments (author_id, id);
CREATE INDEX comments_received ON comments (val_owner_id, id) WHERE author_id <> val_owner_id;
CREATE INDEX comments_of_val ON comments (val_id, id);

-- val_id imports depends_on_id. Called val_references because REFERENCES is a word of SQL.
CREATE TABLE val_references (
  id uuid NOT NULL,
  owner_id uuid NOT NULL,
  val_id uuid NOT NULL,
  depends_on_owner_id uuid NOT NULL,
  depends_on_id uuid NOT NULL,
  PRIMARY KEY (val_id, depends_on_id)
);
CREATE UNIQUE INDEX references_to_owner ON val_references (depends_on_owner_id, id);
CREATE INDEX references_to_val ON val_references (depends_on_id);

CREATE TABLE idempotency_keys (
  token_id uuid NOT NULL,
  key_hash bytea NOT NULL,
  request_hash bytea NOT NULL,
  -- Readable only with the token that made the request; NULL while that request is under way.
  sealed_answer bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (token_id, key_hash)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- Vals that are gone and whose remains are yet to be purged.
CREATE TABLE deleted_vals (
  val_id uuid PRIMARY KEY,
  owner_id uuid NOT NULL,
  deleted_at timestamptz NOT NULL DEFAULT now()
);

-- Texts that lost a version and may have no other: upkeep looks, and deletes those that nobody has any more.
CREATE TABLE released_codes (
  hash bytea PRIMARY KEY,
  released_at timestamptz NOT NULL DEFAULT now()
);
