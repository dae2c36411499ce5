package pluginhost

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/wire"
)

// featurePlain in a manifest says that the plugin cannot do AutoMTLS. Its
// socket in the private run directory is then used without encryption.
const featurePlain = "plain-transport"

// program is one content of a plugin file that was checked and described. It
// keeps the file open, so that what is started is what was checked, and so
// that a process can be started again after the file was replaced or removed.
type program struct {
	path     string
	file     *os.File
	stamp    stamp
	sum      string
	manifest wire.Manifest
	offers   []Component  // of the kinds that this host knows
	refs     atomic.Int32 // the catalog's and one for each start
}

func newProgram(path string, f *os.File, s stamp) *program {
	p := &program{path: path, file: f, stamp: s}
	p.refs.Store(1)
	return p
}

func (p *program) retain() { p.refs.Add(1) }

func (p *program) release() {
	if p.refs.Add(-1) == 0 {
		p.file.Close()
	}
}

// verify makes sure that the open file still has the content that was checked:
// someone may have written into it while no process ran it.
func (p *program) verify() error {
	sum, err := sumFile(p.file)
	if err != nil {
		return err
	}
	if sum != p.sum {
		return fmt.Errorf("%s was changed in place since it was checked", p.path)
	}
	return nil
}

func (p *program) plain() bool { return slices.Contains(p.manifest.Features, featurePlain) }

// Component is one thing that a plugin offers.
type Component struct {
	Plugin      string
	Version     string // of the plugin
	Kind        pluginapi.Kind
	Name        string
	Description string
	// Schema is the JSON Schema of the settings.
	Schema json.RawMessage
}

// FullName is "plugin/name", which is never ambiguous.
func (c Component) FullName() string { return c.Plugin + "/" + c.Name }

// describedAs notes what the program offers.
func (p *program) describedAs(m wire.Manifest) {
	p.manifest = m
	for _, c := range m.Components {
		if !slices.Contains(pluginapi.Kinds(), c.Kind) {
			continue // of a newer plugin
		}
		p.offers = append(p.offers, Component{
			Plugin: m.Name, Version: m.Version,
			Kind: c.Kind, Name: c.Name, Description: c.Description, Schema: c.Schema,
		})
	}
}
