// Package schema holds the SQL that makes the tables of ax, a folder for each
// dialect. The files are numbered and only ever added to: once released, a
// file is never edited, since databases remember its checksum. A file whose name is
// not NNNN_breaking_… only adds tables, and columns that may be null or have a
// default: programs of the version before go on with it.
//
// Names of tables, indexes and views begin with ax_ in the text; the store
// puts the configured prefix in its place.
package schema

import (
	"embed"
)

// Files holds the folders sqlite and mysql with files named NNNN_what.sql.
//
//go:embed sqlite/*.sql mysql/0*.sql
var Files embed.FS

// Grants makes the accounts of a MySQL server; its comments say how.
//
//go:embed mysql/grants.sql
var Grants string
