package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	hostclient "github.com/axsched/ax/host/client"
)

const addressHelp = `  1. --server
  2. the context that --context names
  3. http.listen of the file that --config names
  4. AX_SERVER
  5. http.listen of the file that AX_CONFIG names
  6. the context in use, see "ax context"
  7. http.listen of config.yaml in the current folder, if there is one
  8. http://127.0.0.1:8090
`

// target is a host, and how to talk to it.
type target struct {
	address string
	// token and ca are those of a context, which go to its host only.
	token, ca string
}

// client returns a client of the host that the flags or the surroundings name.
func (p *program) client(cmd *cobra.Command) (*client, error) {
	to, err := p.target(cmd)
	if err != nil {
		return nil, err
	}
	base, err := baseURL(to.address)
	if err != nil {
		return nil, usage(err)
	}
	o := hostclient.Options{Actor: cmp.Or(p.Env("USER"), "unknown") + " (cli)", Token: strings.TrimSpace(cmp.Or(p.Env("AX_TOKEN"), to.token))}
	if file := cmp.Or(p.ca, p.Env("AX_CA"), to.ca); file != "" {
		if o.CA, err = os.ReadFile(file); err != nil {
			return nil, usage(fmt.Errorf("read the authority: %w", err))
		}
	}
	if o.Token != "" && strings.HasPrefix(base, "http://") && !onThisMachine(base) {
		fmt.Fprintf(p.Err, "the token can be read on the way to %s: use https\n", base)
	}
	made, err := hostclient.New(base, o)
	if err != nil {
		return nil, usage(err)
	}
	return &client{made, base}, nil
}

func onThisMachine(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// target returns where the host is, in the order that addressHelp tells: a flag goes
// before the environment, and that before what lies around.
func (p *program) target(cmd *cobra.Command) (target, error) {
	server := cmp.Or(p.Env("AX_SERVER"), p.Env("AX_ADDR"))
	switch {
	case p.server != "":
		return target{address: p.server}, nil
	case p.context != "":
		return p.contextNamed(p.context)
	case cmd.Flags().Changed("config"):
		return p.listenOf(p.configPath)
	case server != "":
		return target{address: server}, nil
	case p.Env("AX_CONFIG") != "":
		return p.listenOf(p.Env("AX_CONFIG"))
	}
	if to, err := p.contextNamed(""); err != nil || to.address != "" {
		return to, err
	}
	if p.Address == nil {
		return target{address: defaultAddr}, nil
	}
	listen, err := p.Address(defaultConfig)
	if err == nil && listen != "" {
		return target{address: listen}, nil
	}
	// Nobody named this file: it may be broken just now, or that of something else.
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(p.Err, "%s does not tell where the host is, asking %s: %s\n", defaultConfig, defaultAddr, oneLine(err.Error()))
	}
	return target{address: defaultAddr}, nil
}

// listenOf returns the http.listen of a configuration that was named.
func (p *program) listenOf(path string) (target, error) {
	if p.Address == nil {
		return target{}, usage(errors.New("this program cannot read configurations"))
	}
	listen, err := p.Address(path)
	if err != nil {
		return target{}, p.withFaults(err)
	}
	if listen == "" {
		return target{}, usage(fmt.Errorf("http.listen in %s is off, so its host has no API", path))
	}
	return target{address: listen}, nil
}

// baseURL completes an address: "host:port", or a URL without path.
func baseURL(addr string) (string, error) {
	text := addr
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return "", fmt.Errorf("%q is no address of a host: expected one such as %s", addr, defaultAddr)
	}
	// A listener on all addresses is reached on loopback.
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "" || ip != nil && ip.IsUnspecified() {
		u.Host = net.JoinHostPort("127.0.0.1", u.Port())
	}
	return u.Scheme + "://" + u.Host, nil
}
