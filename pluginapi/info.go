package pluginapi

import (
	"fmt"
	"regexp"
)

// nameForm is what names of plugins and components look like.
var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

const nameRule = "a name is lower case letters, digits and single dashes, and begins with a letter"

// versionForm is a semantic version without a leading v.
var versionForm = regexp.MustCompile(
	`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// Check reports what is wrong with a plugin's name or version.
func (i Info) Check() error {
	switch {
	case !nameForm.MatchString(i.Name):
		return fmt.Errorf("plugin %q: %s", i.Name, nameRule)
	case !versionForm.MatchString(i.Version):
		return fmt.Errorf("plugin %q: version %q is not a semantic version such as 1.4.0", i.Name, i.Version)
	}
	return nil
}
