-- What several hosts need to know of one another.

-- cluster is host:port for other hosts; figures hold labels, offers and load as
-- JSON; slot is a small number that no other row has, for making ids.
ALTER TABLE ax_node ADD COLUMN cluster TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_node ADD COLUMN figures TEXT;
ALTER TABLE ax_node ADD COLUMN slot INTEGER;
CREATE UNIQUE INDEX ax_node_slot ON ax_node (slot);

-- changed is the ax_app.version with which the row changed last; owner is the
-- incarnation that schedules the task, and fence grows each time it changes.
ALTER TABLE ax_task ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_task ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
CREATE INDEX ax_task_bucket ON ax_task (app, bucket);
CREATE INDEX ax_task_changed ON ax_task (app, changed);

-- One row an app: version grows with every change of its tasks by people, so
-- that other hosts need to look at one row to see that there is none.
CREATE TABLE ax_app (
  app     TEXT    NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

DROP VIEW ax_node_v;
CREATE VIEW ax_node_v AS SELECT
  incarnation, name, app, slot, address, cluster, version, pid,
  datetime(started_at / 1000000, 'unixepoch') || printf('.%06d', started_at % 1000000) AS started_at,
  datetime(beat_at / 1000000, 'unixepoch') || printf('.%06d', beat_at % 1000000) AS beat_at,
  draining, figures
FROM ax_node;

DROP VIEW ax_task_v;
CREATE VIEW ax_task_v AS SELECT
  id, app, name, bucket, owner, fence, definition, source, enabled,
  datetime(next_at / 1000000, 'unixepoch') || printf('.%06d', next_at % 1000000) AS next_at,
  datetime(prev_at / 1000000, 'unixepoch') || printf('.%06d', prev_at % 1000000) AS prev_at,
  planned, plan_version, plan_done,
  datetime(anchor_at / 1000000, 'unixepoch') || printf('.%06d', anchor_at % 1000000) AS anchor_at,
  paused,
  datetime(paused_until / 1000000, 'unixepoch') || printf('.%06d', paused_until % 1000000) AS paused_until,
  parked, failures, revision, changed,
  datetime(created_at / 1000000, 'unixepoch') || printf('.%06d', created_at % 1000000) AS created_at,
  created_by,
  datetime(updated_at / 1000000, 'unixepoch') || printf('.%06d', updated_at % 1000000) AS updated_at,
  updated_by
FROM ax_task WHERE deleted_at IS NULL;
