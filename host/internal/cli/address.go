package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
)

const addressHelp = `  1. --addr
  2. http.listen of the file that --config names
  3. AX_ADDR
  4. http.listen of the file that AX_CONFIG names
  5. http.listen of config.yaml in the current folder, if there is one
  6. http://127.0.0.1:8090
`

// client returns a client of the host that the flags or the surroundings name.
func (p *program) client(cmd *cobra.Command) (*client, error) {
	addr, err := p.hostAddress(cmd)
	if err != nil {
		return nil, err
	}
	base, err := baseURL(addr)
	if err != nil {
		return nil, usage(err)
	}
	actor := cmp.Or(p.Env("USER"), "unknown") + " (cli)"
	return &client{base: base, actor: actor, http: &http.Client{}}, nil
}

// hostAddress returns where the host is, in the order that addressHelp tells: a
// flag goes before the environment, and that before what lies around.
func (p *program) hostAddress(cmd *cobra.Command) (string, error) {
	switch {
	case p.addr != "":
		return p.addr, nil
	case cmd.Flags().Changed("config"):
		return p.listenOf(p.configPath)
	case p.Env("AX_ADDR") != "":
		return p.Env("AX_ADDR"), nil
	case p.Env("AX_CONFIG") != "":
		return p.listenOf(p.Env("AX_CONFIG"))
	case p.Address == nil:
		return defaultAddr, nil
	}
	listen, err := p.Address(defaultConfig)
	if err == nil && listen != "" {
		return listen, nil
	}
	// Nobody named this file: it may be broken just now, or that of something else.
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(p.Err, "%s does not tell where the host is, asking %s: %s\n", defaultConfig, defaultAddr, oneLine(err.Error()))
	}
	return defaultAddr, nil
}

// listenOf returns the http.listen of a configuration that was named.
func (p *program) listenOf(path string) (string, error) {
	if p.Address == nil {
		return "", usage(errors.New("this program cannot read configurations"))
	}
	listen, err := p.Address(path)
	if err != nil {
		return "", p.withFaults(err)
	}
	if listen == "" {
		return "", usage(fmt.Errorf("http.listen in %s is off, so its host has no API", path))
	}
	return listen, nil
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
