package config

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Defaults of a host among others.
const (
	defaultHeartbeat = 5 * time.Second
	defaultDeadAfter = 15 * time.Second
	defaultSpoolFor  = 48 * time.Hour
)

const (
	// minClusterSecret is the length of a secret in characters below which it
	// could be guessed.
	minClusterSecret = 16
	// maxCertificateBytes is far above a bundle with all public authorities.
	maxCertificateBytes = 1 << 20
	exampleListen       = "10.0.0.7:8091"
)

func defaultCluster() Cluster {
	return Cluster{Heartbeat: defaultHeartbeat, DeadAfter: defaultDeadAfter, SpoolFor: defaultSpoolFor}
}

// clusterDraft is the section cluster while its keys are read.
type clusterDraft struct {
	to    *Cluster
	node  *yaml.Node // the whole, nil if it is not there
	given stated
	tls   ClusterTLS
	// files are what tls states.
	files stated
}

func (c *clusterDraft) rule() rule {
	fields := []field{
		{"listen", text(&c.to.Listen)},
		{"advertise", text(&c.to.Advertise)},
		{"secret", text(&c.to.Secret)},
		{"tls", c.tlsRule()},
		{"heartbeat", duration(&c.to.Heartbeat, 100*time.Millisecond)},
		{"dead_after", duration(&c.to.DeadAfter, 200*time.Millisecond)},
		{"labels", textMap(&c.to.Labels)},
		{"spool_for", duration(&c.to.SpoolFor, time.Minute)},
	}
	return rule{kind: kindObject, fields: fields, take: func(d *decoder, key string, n *yaml.Node) {
		c.node = n
		c.given = d.object(key, n, fields)
	}}
}

func (c *clusterDraft) tlsRule() rule {
	fields := []field{{"cert", path(&c.tls.Cert)}, {"key", path(&c.tls.Key)}, {"ca", path(&c.tls.CA)}}
	needs := []string{"cert", "key", "ca"}
	return rule{kind: kindObject, fields: fields, needs: needs, take: func(d *decoder, key string, n *yaml.Node) {
		c.files = d.object(key, n, fields, needs...)
	}}
}

// finishCluster checks how the keys go together and fills in what depends on
// others.
func (d *decoder) finishCluster(c *clusterDraft, store Store) {
	if c.node == nil {
		return
	}
	if n := c.given["secret"]; n != nil {
		d.secret(c.to.Secret) // also one that stands in the file itself
		if n.Tag == "!!str" && utf8.RuneCountInString(c.to.Secret) < minClusterSecret {
			d.fault(n, "secret: expected at least %d characters, such as what \"openssl rand -hex 32\" prints", minClusterSecret)
		}
	}
	if c.to.DeadAfter < 2*c.to.Heartbeat {
		n := c.given["dead_after"]
		if n == nil {
			n = c.given["heartbeat"]
		}
		d.fault(n, "dead_after: expected at least twice the heartbeat, or a single late sign of life makes a host look dead")
	}
	d.readCertificates(c)
	d.checkClusterAddresses(c, store)
}

// checkClusterAddresses checks the port for other hosts, and who may use it.
func (d *decoder) checkClusterAddresses(c *clusterDraft, store Store) {
	listen, advertise := c.given["listen"], c.given["advertise"]
	if c.to.Listen == "" {
		if advertise != nil {
			d.fault(advertise, "advertise has no meaning without listen")
		}
		return
	}
	host, port, ok := splitAddress(c.to.Listen)
	switch {
	case !ok || host == "":
		d.fault(listen, "listen: expected host:port such as %s, or 0.0.0.0:8091 for all addresses of this machine, got %s", exampleListen, d.show(listen))
		return
	case !store.Shared():
		d.fault(listen, "listen: hosts work together on one MySQL database: write store: {dsn: mysql://…}")
	case !c.given.has("secret", "tls"):
		d.fault(listen, "listen: other hosts must prove who they are: write secret: or tls: beside it")
	}
	if advertise == nil {
		c.to.Advertise = net.JoinHostPort(reachable(host), port)
		return
	}
	host, _, ok = splitAddress(c.to.Advertise)
	if ip := net.ParseIP(host); !ok || host == "" || ip != nil && ip.IsUnspecified() {
		d.fault(advertise, "advertise: expected host:port at which other hosts reach this one, such as %s, got %s", exampleListen, d.show(advertise))
	}
}

// reachable returns a name for an address at which this machine listens: the
// machine's own if it listens at all of them.
func reachable(host string) string {
	if ip := net.ParseIP(host); ip == nil || !ip.IsUnspecified() {
		return host
	}
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "localhost"
	}
	return name
}

// readCertificates checks that the files of tls are there and fit together.
func (d *decoder) readCertificates(c *clusterDraft) {
	if c.files == nil {
		return
	}
	c.to.TLS = &c.tls
	contents := map[string][]byte{}
	for _, file := range []struct {
		key  string
		path *string
	}{{"cert", &c.tls.Cert}, {"key", &c.tls.Key}, {"ca", &c.tls.CA}} {
		if data := d.pemFile(c.files, file.key, file.path); data != nil {
			contents[file.key] = data
		}
	}
	if cert, key := contents["cert"], contents["key"]; cert != nil && key != nil {
		if _, err := tls.X509KeyPair(cert, key); err != nil {
			d.fault(c.files["cert"], "cert: it does not fit the key: %v", err)
		}
	}
	if ca := contents["ca"]; ca != nil && !x509.NewCertPool().AppendCertsFromPEM(ca) {
		d.fault(c.files["ca"], "ca: expected certificates in PEM, found none in the file")
	}
}
