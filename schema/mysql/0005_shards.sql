-- Shards of a due time: see sqlite/0006_shards.sql.
ALTER TABLE ax_instance ADD COLUMN shards INT NOT NULL DEFAULT 0;

DROP VIEW ax_instance_v;
CREATE SQL SECURITY INVOKER VIEW ax_instance_v AS SELECT
  id, app, task_id, task_name,
  TIMESTAMPADD(MICROSECOND, scheduled_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS scheduled_at,
  kind, shard, shards, status, attempt, fence, owner, node, reason, missed,
  TIMESTAMPADD(MICROSECOND, missed_until, TIMESTAMP('1970-01-01 00:00:00.000000')) AS missed_until,
  trace_id, params, params_bound,
  TIMESTAMPADD(MICROSECOND, created_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS created_at,
  TIMESTAMPADD(MICROSECOND, started_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS started_at,
  TIMESTAMPADD(MICROSECOND, ended_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS ended_at,
  TIMESTAMPADD(MICROSECOND, retry_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS retry_at,
  deferred, callback_hash,
  TIMESTAMPADD(MICROSECOND, deadline_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS deadline_at,
  message, error, data
FROM ax_instance;
