package wire

import (
	"encoding/json"
	"fmt"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

// Manifest says what a plugin is and offers. Its JSON is what a plugin prints
// for [DescribeFlag].
type Manifest struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
	// Protocol is the highest wire major that the plugin speaks.
	Protocol   int             `json:"protocol"`
	Components []ComponentInfo `json:"components"`
	// Features names optional abilities; absent means the old behaviour.
	Features []string `json:"features,omitempty"`
}

// ComponentInfo is one component in a [Manifest].
type ComponentInfo struct {
	Kind        pluginapi.Kind `json:"kind"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	// Schema is the JSON Schema of the settings.
	Schema json.RawMessage `json:"schema"`
}

// NewManifest describes a plugin and reports everything that is wrong with it.
func NewManifest(info pluginapi.Info, components []pluginapi.Component) (Manifest, error) {
	if err := checkPlugin(info, components); err != nil {
		return Manifest{}, err
	}
	m := Manifest{Name: info.Name, Version: info.Version, Description: info.Description, Protocol: ProtocolVersion}
	for _, c := range components {
		m.Components = append(m.Components, ComponentInfo{
			Kind: c.Kind, Name: c.Name, Description: c.Description, Schema: c.Schema,
		})
	}
	return m, nil
}

// ParseManifest reads what a plugin printed for [DescribeFlag]. Unknown keys
// are those of a newer plugin and are ignored.
func ParseManifest(raw []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return Manifest{}, fmt.Errorf("decode manifest: %w", err)
	}
	return m, nil
}

// EncodeManifest returns m as the answer of Plugin.Describe.
func EncodeManifest(m Manifest) *pb.Manifest {
	out := &pb.Manifest{
		Name: m.Name, Version: m.Version, Description: m.Description,
		Protocol: uint32(m.Protocol), Features: m.Features,
	}
	for _, c := range m.Components {
		out.Components = append(out.Components, &pb.ComponentInfo{
			Kind: string(c.Kind), Name: c.Name, Description: c.Description, Schema: c.Schema,
		})
	}
	return out
}

// DecodeManifest reads the answer of Plugin.Describe.
func DecodeManifest(in *pb.Manifest) Manifest {
	m := Manifest{
		Name: in.GetName(), Version: in.GetVersion(), Description: in.GetDescription(),
		Protocol: int(in.GetProtocol()), Features: in.GetFeatures(),
	}
	for _, c := range in.GetComponents() {
		m.Components = append(m.Components, ComponentInfo{
			Kind: pluginapi.Kind(c.GetKind()), Name: c.GetName(), Description: c.GetDescription(),
			Schema: c.GetSchema(),
		})
	}
	return m
}
