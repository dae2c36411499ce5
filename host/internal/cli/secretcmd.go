package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
)

func (p *program) passwdCommand() *cobra.Command {
	return command(&cobra.Command{
		Use:   "passwd",
		Short: "Make what access.users has of a password",
		Long: `Ask for a password, twice and without showing it, or read it from standard input,
and print the password_hash for access.users of the configuration. A password has
8 to 72 bytes.`,
		Example: `  ax passwd
  pass show ax/ann | ax passwd`,
	}, "host", func(*cobra.Command, []string) error {
		password, err := p.readPassword()
		if err != nil {
			return err
		}
		hash, err := p.HashPassword(password)
		if err != nil {
			return usage(err)
		}
		return p.show(map[string]string{"password_hash": hash}, func() string { return hash + "\n" })
	})
}

// readPassword asks for a password on a terminal, or reads it as a line.
func (p *program) readPassword() (string, error) {
	if in, ok := p.In.(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		var given [2]string
		for i, prompt := range []string{"Password: ", "Again: "} {
			fmt.Fprint(p.Err, prompt)
			text, err := term.ReadPassword(int(in.Fd()))
			fmt.Fprintln(p.Err)
			if err != nil {
				return "", fmt.Errorf("read the password: %w", err)
			}
			given[i] = string(text)
		}
		if given[0] != given[1] {
			return "", usage(errors.New("the two differ"))
		}
		return given[0], nil
	}
	line, err := bufio.NewReader(p.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

func (p *program) tokenCommand() *cobra.Command {
	var role, expires string
	var groups []string
	c := command(&cobra.Command{
		Use:   "token NAME",
		Short: "Make a token, and what access.tokens has of it",
		Long: `Make a token for a program, or for the commands of ax on another machine. It is
shown this once, on standard error; the entry for access.tokens of the
configuration, which holds a hash only, goes to standard output.`,
		Example: `  ax token ci --role operator --groups billing --expires 2027-06-30
  ax token backup >>tokens.yaml`,
		Args: cobra.ExactArgs(1),
	}, "host", func(_ *cobra.Command, args []string) error {
		if !ax.Role(role).AtLeast(ax.RoleViewer) {
			return usage(fmt.Errorf("--role %s: expected viewer, operator or admin", role))
		}
		if expires != "" {
			if at, err := config.ParseInstant(expires, time.UTC); err != nil || !at.After(p.Now()) {
				return usage(fmt.Errorf("--expires %s: expected a time to come, such as 2027-06-30 or 2027-06-30T12:00:00Z", expires))
			}
		}
		token, sum := p.NewToken()
		entry := "- {name: " + args[0] + ", sha256: " + sum + ", role: " + role
		if len(groups) > 0 {
			entry += ", groups: [" + strings.Join(groups, ", ") + "]"
		}
		if expires != "" {
			entry += ", expires: " + expires
		}
		entry += "}\n"
		if p.json() {
			return p.show(map[string]string{"token": token, "sha256": sum}, nil)
		}
		fmt.Fprintf(p.Err, "The token, which is not shown again:\n%s\n\nFor access.tokens:\n", token)
		_, err := io.WriteString(p.Out, entry)
		return err
	})
	c.Flags().StringVar(&role, "role", string(ax.RoleViewer), "`ROLE`: viewer, operator or admin")
	c.Flags().StringSliceVar(&groups, "groups", nil, "only tasks of these `GROUPS`, separated by commas")
	c.Flags().StringVar(&expires, "expires", "", "`TIME` from when on it is not good any more, such as 2027-06-30")
	p.complete(c, "role", "viewer", "operator", "admin")
	return c
}
