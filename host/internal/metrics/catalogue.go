package metrics

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Info describes a metric to people.
type Info struct {
	Name, Type, Help string
	Labels           []string
}

// catalogue makes metrics, registers them and keeps what they are.
type catalogue struct {
	registry *prometheus.Registry
	infos    []Info
}

func (c *catalogue) note(kind, name, help string, labels []string) {
	c.infos = append(c.infos, Info{Name: name, Type: kind, Help: help, Labels: labels})
}

func (c *catalogue) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c.note("counter", name, help, labels)
	made := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	c.registry.MustRegister(made)
	return made
}

func (c *catalogue) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	c.note("gauge", name, help, labels)
	made := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	c.registry.MustRegister(made)
	return made
}

func (c *catalogue) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	c.note("histogram", name, help, labels)
	made := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	c.registry.MustRegister(made)
	return made
}

// Infos lists the metrics of ax itself, by name. Those of the Go runtime and of
// the process are not among them.
func (m *Metrics) Infos() []Info {
	return slices.SortedFunc(slices.Values(m.infos), func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
}

// reader is a collector whose figures are read when they are asked for. If they
// cannot be read they are missing; the others are not.
type reader struct {
	cat   *catalogue
	descs []*prometheus.Desc
	read  func(tell)
}

// figure is a metric of a reader.
type figure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// tell gives the value of a figure with its labels.
type tell func(f figure, value float64, labels ...string)

func (r *reader) gauge(name, help string, labels ...string) figure {
	return r.figure("gauge", prometheus.GaugeValue, name, help, labels)
}

func (r *reader) counter(name, help string, labels ...string) figure {
	return r.figure("counter", prometheus.CounterValue, name, help, labels)
}

func (r *reader) figure(kind string, value prometheus.ValueType, name, help string, labels []string) figure {
	r.cat.note(kind, name, help, labels)
	f := figure{prometheus.NewDesc(name, help, labels, nil), value}
	r.descs = append(r.descs, f.desc)
	return f
}

// register begins to read; every figure was made before.
func (r *reader) register(read func(tell)) {
	r.read = read
	r.cat.registry.MustRegister(r)
}

// Describe implements prometheus.Collector.
func (r *reader) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range r.descs {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (r *reader) Collect(ch chan<- prometheus.Metric) {
	r.read(func(f figure, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(f.desc, f.kind, value, labels...)
	})
}
