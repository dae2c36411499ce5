package pluginapi_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/axsched/ax/"

// imports lists what packages import, with everything below, outside the
// standard library. Names of our own packages come without the module.
func imports(t *testing.T, packages ...string) []string {
	t.Helper()
	args := append([]string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}, packages...)
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []string
	for path := range strings.FieldsSeq(string(out)) {
		list = append(list, strings.TrimPrefix(path, module))
	}
	if len(list) == 0 {
		t.Fatal("go list found nothing")
	}
	return list
}

// What a plugin author imports needs the standard library only.
func TestStandardLibraryOnly(t *testing.T) {
	t.Parallel()
	allowed := []string{"pluginapi", "pluginapi/calendar", "pluginapi/cron", "pluginapi/once"}
	for _, path := range imports(t, ".", "./calendar", "./cron", "./once") {
		if !slices.Contains(allowed, path) {
			t.Errorf("%s is imported", path)
		}
	}
}

// A plugin links what gRPC needs and nothing of the host.
func TestModulesOfPlugins(t *testing.T) {
	t.Parallel()
	allowed := []string{
		"pluginapi",
		"google.golang.org/grpc", "google.golang.org/protobuf", "google.golang.org/genproto/googleapis/rpc",
		"github.com/hashicorp/go-plugin", "github.com/hashicorp/go-hclog",
		// what these need in turn
		"github.com/hashicorp/yamux", "github.com/oklog/run", "github.com/golang/protobuf",
		"github.com/fatih/color", "github.com/mattn/go-colorable", "github.com/mattn/go-isatty",
		"golang.org/x/net", "golang.org/x/sys", "golang.org/x/text",
	}
	for _, path := range imports(t, "./wire", "./serve", "./plugintest") {
		if !slices.ContainsFunc(allowed, func(a string) bool { return path == a || strings.HasPrefix(path, a+"/") }) {
			t.Errorf("%s is imported", path)
		}
	}
}
