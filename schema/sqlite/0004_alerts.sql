-- Notifications across hosts.

-- What happened to a task and is in no message yet. Such a row is written in the
-- transaction of the change that it tells of, and deleted in the one that puts it
-- into a message: nothing is lost between the two, and nothing counted twice.
CREATE TABLE ax_alert_event (
  id          INTEGER PRIMARY KEY,           -- rises with time
  app         TEXT    NOT NULL,
  task_id     INTEGER NOT NULL,
  subject     TEXT    NOT NULL,              -- name of the task, or of what else
  receivers   TEXT    NOT NULL,              -- JSON, of what is no task
  event       TEXT    NOT NULL,
  count       INTEGER NOT NULL,              -- how often it happened
  at          INTEGER NOT NULL,              -- the newest time
  instance_id INTEGER NOT NULL,              -- 0 for none
  attempt     INTEGER NOT NULL,
  node        TEXT    NOT NULL,
  detail      TEXT    NOT NULL               -- empty: the instance tells
) STRICT;
CREATE INDEX ax_alert_event_app ON ax_alert_event (app);

-- How a task fares, as far as notifications need to know.
CREATE TABLE ax_alert_task (
  task_id  INTEGER PRIMARY KEY,
  app      TEXT    NOT NULL,
  failures INTEGER NOT NULL,                 -- in a row
  state    TEXT    NOT NULL                  -- JSON
) STRICT;
CREATE INDEX ax_alert_task_failing ON ax_alert_task (app, failures);

-- The host that gathers and sends, for as long as its lease lasts.
CREATE TABLE ax_alert_lease (
  app      TEXT    NOT NULL PRIMARY KEY,
  owner    TEXT    NOT NULL,                 -- incarnation of the host
  fence    INTEGER NOT NULL,                 -- grows with each new owner
  until_at INTEGER NOT NULL                  -- by the clock of the database
) STRICT, WITHOUT ROWID;

-- How the notifiers fare. A row with failing_since is one that is down.
CREATE TABLE ax_alert_notifier (
  app           TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  failing_since INTEGER,
  failures      INTEGER NOT NULL,            -- tries in a row without success
  next_try_at   INTEGER,
  last_error    TEXT    NOT NULL,
  sent_at       INTEGER,                     -- the newest message
  PRIMARY KEY (app, name)
) STRICT, WITHOUT ROWID;

-- Times in which a person wants to hear nothing of a task: messages wait.
CREATE TABLE ax_alert_silence (
  id         INTEGER PRIMARY KEY,
  app        TEXT    NOT NULL,
  task       TEXT    NOT NULL,               -- empty: all
  notifier   TEXT    NOT NULL,               -- empty: all
  until_at   INTEGER NOT NULL,
  reason     TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT    NOT NULL
) STRICT;
CREATE INDEX ax_alert_silence_until ON ax_alert_silence (app, until_at);

ALTER TABLE ax_alert ADD COLUMN task_name TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_alert ADD COLUMN version INTEGER NOT NULL DEFAULT 1;  -- grows with each write
ALTER TABLE ax_alert ADD COLUMN digest TEXT NOT NULL DEFAULT '';     -- of what it says, once it leaves
ALTER TABLE ax_alert ADD COLUMN merged_into INTEGER NOT NULL DEFAULT 0; -- the row that told of it as well
CREATE INDEX ax_alert_told ON ax_alert (app, notifier, window_end);
CREATE INDEX ax_alert_merged ON ax_alert (merged_into);

-- For the watch that looks for due times without a row.
CREATE INDEX ax_task_next ON ax_task (app, next_at);

CREATE VIEW ax_alert_event_v AS SELECT
  id, app, task_id, subject, receivers, event, count,
  datetime(at / 1000000, 'unixepoch') || printf('.%06d', at % 1000000) AS at,
  instance_id, attempt, node, detail
FROM ax_alert_event;

CREATE VIEW ax_alert_notifier_v AS SELECT
  app, name,
  datetime(failing_since / 1000000, 'unixepoch') || printf('.%06d', failing_since % 1000000) AS failing_since,
  failures,
  datetime(next_try_at / 1000000, 'unixepoch') || printf('.%06d', next_try_at % 1000000) AS next_try_at,
  last_error,
  datetime(sent_at / 1000000, 'unixepoch') || printf('.%06d', sent_at % 1000000) AS sent_at
FROM ax_alert_notifier;

CREATE VIEW ax_alert_silence_v AS SELECT
  id, app, task, notifier,
  datetime(until_at / 1000000, 'unixepoch') || printf('.%06d', until_at % 1000000) AS until_at,
  reason,
  datetime(created_at / 1000000, 'unixepoch') || printf('.%06d', created_at % 1000000) AS created_at,
  created_by
FROM ax_alert_silence;

DROP VIEW ax_alert_v;
CREATE VIEW ax_alert_v AS SELECT
  id, app, task_id, task_name, notifier, event, state,
  datetime(window_start / 1000000, 'unixepoch') || printf('.%06d', window_start % 1000000) AS window_start,
  datetime(window_end / 1000000, 'unixepoch') || printf('.%06d', window_end % 1000000) AS window_end,
  count,
  datetime(first_at / 1000000, 'unixepoch') || printf('.%06d', first_at % 1000000) AS first_at,
  datetime(last_at / 1000000, 'unixepoch') || printf('.%06d', last_at % 1000000) AS last_at,
  payload, attempts,
  datetime(next_try_at / 1000000, 'unixepoch') || printf('.%06d', next_try_at % 1000000) AS next_try_at,
  last_error, digest, merged_into, version
FROM ax_alert;
