package schema

import _ "embed"

// Config is the JSON Schema of config.yaml, for editors and for tests. The
// host itself checks more, and says better what is wrong.
//
//go:embed config.schema.json
var Config string

// Include is the JSON Schema of the files that config.yaml includes.
//
//go:embed include.schema.json
var Include string
