package config

import (
	"crypto/tls"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// HTTP says where the API and the console listen.
type HTTP struct {
	// Listen is host:port, or empty for none of both.
	Listen string
	// PublicURL is how jobs and browsers reach them from elsewhere, such as
	// "https://ax.example/app" without a slash at the end; empty for the address
	// at which they listen.
	PublicURL string
	// TLS is nil for none.
	TLS *ServerTLS
	// TrustedProxies are believed about the addresses that they ask for.
	TrustedProxies []netip.Prefix
}

// ServerTLS holds the paths of PEM files, which were there and fitted together
// when the configuration was read.
type ServerTLS struct{ Cert, Key string }

// Scheme is that of URLs at which the host itself answers.
func (h HTTP) Scheme() string {
	if h.TLS != nil {
		return "https"
	}
	return "http"
}

// Origin is PublicURL without its path; empty if that is.
func (h HTTP) Origin() string {
	u, err := url.Parse(h.PublicURL)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// Secure reports whether browsers reach the host by https only.
func (h HTTP) Secure() bool {
	return h.TLS != nil || strings.HasPrefix(h.PublicURL, "https://")
}

// httpDraft is the section http while its keys are read.
type httpDraft struct {
	to                *HTTP
	listen, publicURL *yaml.Node
	tls               ServerTLS
	files             stated // what tls states
}

func (h *httpDraft) rule() rule {
	return section("http",
		field{"listen", noting(text(&h.to.Listen), &h.listen)},
		field{"public_url", noting(text(&h.to.PublicURL), &h.publicURL)},
		field{"tls", h.tlsRule()},
		field{"trusted_proxies", networks(&h.to.TrustedProxies)})
}

func (h *httpDraft) tlsRule() rule {
	fields := []field{{"cert", path(&h.tls.Cert)}, {"key", path(&h.tls.Key)}}
	needs := []string{"cert", "key"}
	return rule{kind: kindObject, fields: fields, needs: needs, take: func(d *decoder, key string, n *yaml.Node) {
		h.files = d.object(key, n, fields, needs...)
	}}
}

// networks is a list of networks and addresses.
func networks(to *[]netip.Prefix) rule {
	var one string
	elem := text(&one)
	return rule{kind: kindArray, elem: &elem, take: func(d *decoder, key string, n *yaml.Node) {
		for _, item := range n.Content {
			one = ""
			if d.take(&elem, key, item); one == "" {
				continue
			}
			prefix, err := netip.ParsePrefix(one)
			if addr, bad := netip.ParseAddr(one); bad == nil {
				prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
			}
			if err != nil {
				d.fault(item, "%s: expected an address or a network such as 10.0.0.0/8, got %s", key, d.show(item))
				continue
			}
			*to = append(*to, prefix.Masked())
		}
	}}
}

// finishHTTP checks addresses and files; open says that nobody is asked who they
// are.
func (d *decoder) finishHTTP(h *httpDraft, open bool) {
	if h.listen != nil {
		d.checkListen(h, open)
	}
	if h.publicURL != nil {
		d.checkPublicURL(h.to, h.publicURL)
	}
	if h.files == nil {
		return
	}
	h.to.TLS = &h.tls
	cert, key := d.pemFile(h.files, "cert", &h.tls.Cert), d.pemFile(h.files, "key", &h.tls.Key)
	if cert == nil || key == nil {
		return
	}
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		d.fault(h.files["cert"], "cert: it does not fit the key: %v", err)
	}
}

// pemFile resolves the path of a file that is stated and reads it, nil if that
// cannot be done.
func (d *decoder) pemFile(files stated, key string, path *string) []byte {
	n := files[key]
	if n == nil || *path == "" {
		return nil // reported already
	}
	*path = beside(d.path, *path)
	data, err := d.readFile(*path, maxCertificateBytes)
	if err != nil {
		d.fault(n, "%s: %v", key, err)
		return nil
	}
	return data
}

// checkListen allows other addresses than loopback to those only who ask people
// who they are.
func (d *decoder) checkListen(h *httpDraft, open bool) {
	if h.to.Listen == "off" {
		h.to.Listen = ""
		return
	}
	host, _, ok := splitAddress(h.to.Listen)
	if !ok {
		d.fault(h.listen, "listen: expected host:port such as %s, or off, got %s", defaultListen, d.show(h.listen))
		return
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return
	}
	switch {
	case open:
		d.fault(h.listen, "listen: everybody who reaches %s could do everything: write access: with users, tokens or oidc, or listen at a loopback address such as %s",
			d.show(h.listen), defaultListen)
	case h.files == nil:
		d.warn(d.at(h.listen), "passwords and tokens can be read on the way to %s: write tls: beside it, or listen on loopback behind a proxy with TLS", d.show(h.listen))
	}
}

// splitAddress splits host:port with a port in digits.
func splitAddress(address string) (host, port string, ok bool) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", "", false
	}
	number, err := strconv.Atoi(port)
	return host, port, err == nil && number >= 0 && number <= 65535
}

// checkPublicURL wants a URL to which a path can be appended.
func (d *decoder) checkPublicURL(h *HTTP, n *yaml.Node) {
	u, err := url.Parse(h.PublicURL)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.User != nil,
		strings.ContainsAny(h.PublicURL, "?#"):
		d.fault(n, "public_url: expected a URL such as https://ax.example or http://10.0.0.7:8090/ax, without user, ? and #, got %s", d.show(n))
	case h.Listen == "":
		d.fault(n, "public_url has no meaning with listen: off")
	}
	h.PublicURL = strings.TrimRight(h.PublicURL, "/")
}
