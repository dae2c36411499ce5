package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// langFlag lets a command tell schedules in a language.
func (p *program) langFlag(c *cobra.Command) {
	c.Flags().StringVar(&p.lang, "lang", "", "`LANGUAGE` in which schedules are described: en or zh (default by LC_ALL, LC_MESSAGES, LANG)")
	p.complete(c, "lang", "en", "zh")
}

// checkLang refuses languages that there are no descriptions in.
func (p *program) checkLang() error {
	if p.lang != "" && p.lang != "en" && p.lang != "zh" {
		return usage(fmt.Errorf("--lang %s: expected en or zh", p.lang))
	}
	return nil
}

// language is the one in which schedules are described: that of the flag, else
// that of the locale, by the rules of POSIX.
func (p *program) language() string {
	if p.lang != "" {
		return p.lang
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if locale := p.Env(name); locale != "" {
			if strings.HasPrefix(locale, "zh") {
				return "zh"
			}
			return "en"
		}
	}
	return "en"
}
