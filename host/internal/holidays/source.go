package holidays

import (
	"fmt"
	"strings"

	"github.com/axsched/ax/pluginapi/calendar"
)

// UnknownSourceError says that there is no source of this name.
type UnknownSourceError struct {
	Name string
	// Meant is the name of the source that was probably meant, or empty.
	Meant string
}

func (e *UnknownSourceError) Error() string {
	text := fmt.Sprintf("there is no source %q", e.Name)
	if e.Meant != "" {
		text += fmt.Sprintf(", did you mean %q?", e.Meant)
	}
	return text
}

// Sources returns the names that Source knows: "china", and codes of countries
// and of their parts such as "us" or "de-by".
func Sources() []string {
	names := []string{China}
	for _, c := range countries() {
		names = append(names, c.code)
	}
	return names
}

// Source returns a calendar that is built in: Monday to Friday without the
// public holidays and with the make-up workdays. The error is an
// *UnknownSourceError if there is none of this name.
func Source(name string) (*calendar.Calendar, error) {
	if name == China {
		return china()
	}
	meant := ""
	for _, c := range countries() {
		if c.code == name {
			return c.calendar()
		}
		if strings.EqualFold(c.name, name) || strings.EqualFold(c.code, name) {
			meant = c.code
		}
	}
	if strings.EqualFold(name, China) || strings.EqualFold(name, "cn") || name == "中国" {
		meant = China
	}
	return nil, &UnknownSourceError{Name: name, Meant: meant}
}
