package cli

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func (p *program) contextCommand() *cobra.Command {
	c := command(&cobra.Command{
		Use:   "context",
		Short: "List the hosts that you talk to, and say which one is in use",
		Long: `A context is a host with what it takes to talk to it: its URL, a token and the
authority that its certificate comes from. They are in ~/.config/ax/contexts.yaml,
or in the file that AX_CONTEXTS names; only you can read it. A token goes to the
host of its context and to no other one.`,
		Example: `  ax context set prod --server https://ax.example --token-file ~/.ax-prod
  ax context use prod
  ax tasks --context test`,
	}, "host", func(*cobra.Command, []string) error { return p.listContexts() })
	set := p.setContextCommand()
	c.AddCommand(set,
		command(&cobra.Command{Use: "use NAME", Short: "Talk to the host of a context from now on", Args: cobra.ExactArgs(1), Example: "  ax context use prod"}, "",
			func(_ *cobra.Command, args []string) error {
				return p.changeContexts(args[0], func(c *contexts) { c.Current = args[0] })
			}),
		command(&cobra.Command{Use: "remove NAME", Short: "Forget a context", Args: cobra.ExactArgs(1), Example: "  ax context remove test"}, "",
			func(_ *cobra.Command, args []string) error {
				return p.changeContexts(args[0], func(c *contexts) {
					delete(c.Contexts, args[0])
					if c.Current == args[0] {
						c.Current = ""
					}
				})
			}))
	return c
}

func (p *program) setContextCommand() *cobra.Command {
	var tokenFile string
	var tokenStdin bool
	set := command(&cobra.Command{
		Use:   "set NAME",
		Short: "Keep a host under a name",
		Long: `Keep the host that --server names under a name, with the token that --token-file
names or that comes on standard input, and the authority of --ca. What was there
under this name is replaced. The first context is the one in use.`,
		Example: `  ax context set prod --server https://ax.example --token-file ~/.ax-prod
  echo "$TOKEN" | ax context set test --server http://127.0.0.1:8090 --token-stdin`,
		Args: cobra.ExactArgs(1),
	}, "", func(cmd *cobra.Command, args []string) error {
		if err := exclusive(cmd, "token-file", "token-stdin"); err != nil {
			return err
		}
		base, err := baseURL(p.server)
		if p.server == "" || err != nil {
			return usage(errors.Join(errors.New("say where the host is with --server URL"), err))
		}
		entry := hostEntry{Server: base}
		for path, to := range map[string]*string{tokenFile: &entry.TokenFile, p.ca: &entry.CA} {
			if path == "" {
				continue
			}
			if *to, err = filepath.Abs(path); err != nil {
				return fmt.Errorf("find %s: %w", path, err)
			}
		}
		if tokenStdin {
			line, _ := bufio.NewReader(p.In).ReadString('\n')
			if entry.Token = strings.TrimSpace(line); entry.Token == "" {
				return usage(errors.New("there is no token on standard input"))
			}
		}
		c, err := p.readContexts()
		if err != nil {
			return err
		}
		if c.Contexts == nil {
			c.Contexts = map[string]hostEntry{}
		}
		c.Contexts[args[0]] = entry
		if len(c.Contexts) == 1 {
			c.Current = args[0]
		}
		return p.writeContexts(c)
	})
	set.Flags().StringVar(&tokenFile, "token-file", "", "`FILE` with the token, which is read each time")
	set.Flags().BoolVar(&tokenStdin, "token-stdin", false, "read the token from standard input and keep it")
	return set
}

// changeContexts changes the file if it has a context with the name.
func (p *program) changeContexts(name string, change func(*contexts)) error {
	c, err := p.readContexts()
	if err != nil {
		return err
	}
	if _, known := c.Contexts[name]; !known {
		return &exitError{ExitNotFound, fmt.Errorf("there is no context %q: \"ax context\" lists those that are there", name)}
	}
	change(&c)
	return p.writeContexts(c)
}

// contextRow is a context in a list. Its token is not shown.
type contextRow struct {
	Name    string `json:"name"`
	Server  string `json:"server"`
	Current bool   `json:"current"`
	Token   bool   `json:"token"`
	CA      string `json:"ca,omitempty"`
}

func (p *program) listContexts() error {
	c, err := p.readContexts()
	if err != nil {
		return err
	}
	rows := []contextRow{}
	for _, name := range slices.Sorted(maps.Keys(c.Contexts)) {
		e := c.Contexts[name]
		rows = append(rows, contextRow{Name: name, Server: e.Server, Current: name == c.Current, Token: e.Token != "" || e.TokenFile != "", CA: e.CA})
	}
	return p.show(rows, func() string {
		if len(rows) == 0 {
			return "there are no contexts\n"
		}
		var b strings.Builder
		for _, r := range rows {
			mark := " "
			if r.Current {
				mark = "*"
			}
			fmt.Fprintf(&b, "%s %s  %s\n", mark, r.Name, r.Server)
		}
		return b.String()
	})
}
