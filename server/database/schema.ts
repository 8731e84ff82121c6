import type { ColumnType, Generated } from 'kysely'
import type { Privacy, ValType } from '@valley/contract/vals.ts'
import type { RunError, RunSource, RunStatus } from '@valley/contract/runs.ts'

/** The tables as Kysely sees them; the migrations are what they are. */
export interface Schema {
  users: {
    id: string
    username: string
    email: string | null
    bio: string | null
    profile_image_url: string | null
  }
  tokens: {
    id: string
    owner_id: string
    hash: Buffer
    name: string
    scopes: string[] | null
    expires_at: Date | null
    last_used_at: Date | null
  }
  codes: { hash: Buffer; code: string }
  vals: {
    id: string
    owner_id: string
    name: string
    privacy: Privacy
    type: ValType
    readme: string | null
    version: number
    code_hash: Buffer
    version_created_at: Date
    last_version: number
    updated_at: Date
    like_count: Generated<number>
    reference_count: Generated<number>
  }
  versions: { owner_id: string; val_id: string; version: number; code_hash: Buffer; created_at: Date }
  likes: { user_id: string; val_id: string; id: string }
  comments: {
    id: string
    author_id: string
    val_id: string
    val_owner_id: string
    comment: string
    updated_at: Date
  }
  val_references: {
    id: string
    owner_id: string
    val_id: string
    depends_on_owner_id: string
    depends_on_id: string
  }
  runs: {
    id: string
    owner_id: string
    val_id: string
    parent_id: string | null
    version: number
    source: RunSource
    status: RunStatus
    started_at: Date | null
    ended_at: Date | null
    error: ColumnType<RunError | null, string | null>
  }
  documents: { val_id: string; owner_id: string; is_public: boolean; name: string; words: string }
  idempotency_keys: {
    token_id: string
    key_hash: Buffer
    request_hash: Buffer
    sealed_answer: Buffer | null
    created_at: Generated<Date>
  }
  variables: {
    owner_id: string
    holder_id: string
    name: string
    id: string
    key_id: string
    sealed_value: Buffer
  }
  alerts: {
    val_id: string
    owner_id: string
    url: string
    quiet_ms: number
    id: string
    key_id: string
    sealed_value: Buffer
    last_raised_at: Date | null
    last_attempt_at: Date | null
    last_attempt_ok: boolean | null
    last_attempt_status: number | null
    last_attempt_message: string | null
  }
  deliveries: {
    id: string
    owner_id: string
    val_id: string
    run: ColumnType<object, string>
    silenced_until: Date
    due_at: Date
    attempts_left: number
  }
  deleted_vals: { val_id: string; owner_id: string; deleted_at: Generated<Date> }
}
