// Bad is a program for the tests of package pluginhost that breaks the rules
// for plugins, each time in the way that the name of its file says.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

func main() {
	name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(os.Args[0]), "ax-plugin-"), "_")
	if slices.Contains(os.Args[1:], wire.DescribeFlag) {
		describe(name)
		return
	}
	misbehave(name)
	services := &liar{name: name}
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: handshake(name),
		Plugins:         plugin.PluginSet{wire.PluginName: services},
		GRPCServer:      plugin.DefaultGRPCServer,
		Logger:          hclog.NewNullLogger(),
	})
}

func describe(name string) {
	switch name {
	case "describe-hangs":
		select {}
	case "describe-fails":
		fmt.Fprintln(os.Stderr, "a library is missing")
		os.Exit(4)
	case "describe-garbles":
		fmt.Println("hello, I am a plugin")
		return
	case "describe-floods":
		for {
			fmt.Println(strings.Repeat("x", 1000))
		}
	case "describe-other-name":
		name = "somebody-else"
	}
	if err := json.NewEncoder(os.Stdout).Encode(manifest(name)); err != nil {
		panic(err)
	}
}

func manifest(name string) wire.Manifest {
	m := wire.Manifest{
		Name: name, Version: "0.1.0", Protocol: wire.ProtocolVersion,
		Components: []wire.ComponentInfo{
			{Kind: pluginapi.KindTrigger, Name: "lie", Schema: json.RawMessage("{}")},
			{Kind: pluginapi.KindJob, Name: "silent", Schema: json.RawMessage("{}")},
			{Kind: "teapot", Name: "of-the-future", Schema: json.RawMessage("{}")},
		},
	}
	switch name {
	case "old-protocol":
		m.Protocol = 0
	case "plain":
		m.Features = []string{"plain-transport"}
	}
	return m
}

func handshake(name string) plugin.HandshakeConfig {
	h := wire.Handshake()
	if name == "new-protocol" {
		h.ProtocolVersion = 99
	}
	return h
}

// misbehave does what is wrong before the handshake.
func misbehave(name string) {
	switch name {
	case "exits":
		fmt.Fprintln(os.Stderr, "cannot find my settings")
		os.Exit(3)
	case "exits-well":
		os.Exit(0)
	case "mute":
		select {}
	case "panics":
		panic("before anything")
	case "noisy":
		fmt.Println("loading, please wait")
		fmt.Println("1|2|3")
		fmt.Println(strings.Repeat("=", 600_000))
	case "bad-json":
		for _, line := range []string{
			`{"@level":1,"@message":"x","@timestamp":"now"}`, `{"@level":"info","@message":{},"@timestamp":[]}`,
			`{"@level":"info","@message":"fine","@timestamp":12}`, `{"@message":null}`, `{"@level":"info","@message"`,
		} {
			fmt.Fprintln(os.Stderr, line)
		}
	case "floods":
		go flood()
	case "orphans":
		startOrphans()
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		startOrphans()
	}
}

func flood() {
	line := append(bytes.Repeat([]byte("flood "), 10_000), '\n')
	for {
		if _, err := os.Stderr.Write(line); err != nil {
			return
		}
	}
}

// startOrphans starts children that hold stdout and stderr: one in a group of
// its own, and one in a session of its own, which only its mark gives away.
func startOrphans() {
	for _, attr := range []*syscall.SysProcAttr{{Setpgid: true}, {Setsid: true}} {
		cmd := exec.Command("sleep", "1000")
		cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdout, os.Stderr, attr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	}
}

// words are more than anybody wants to read.
var words = strings.Repeat("冗 ", 200_000)

// liar implements the services of the contract without keeping it.
type liar struct {
	plugin.NetRPCUnsupportedPlugin
	pb.UnimplementedPluginServer
	pb.UnimplementedTriggerServer
	pb.UnimplementedJobServer
	name string
}

func (l *liar) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	pb.RegisterPluginServer(s, l)
	if l.name != "no-trigger" {
		pb.RegisterTriggerServer(s, l)
	}
	pb.RegisterJobServer(s, l)
	return nil
}

func (l *liar) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, nil
}

func (l *liar) Describe(context.Context, *pb.DescribeRequest) (*pb.Manifest, error) {
	m := manifest(l.name)
	if l.name == "changes-its-mind" {
		m.Version = "0.2.0"
	}
	return wire.EncodeManifest(m), nil
}

func (l *liar) Configure(context.Context, *pb.ConfigureRequest) (*pb.ConfigureReply, error) {
	return &pb.ConfigureReply{}, nil
}

func (l *liar) Health(ctx context.Context, _ *pb.HealthRequest) (*pb.HealthReply, error) {
	switch l.name {
	case "sick":
		return &pb.HealthReply{Ok: false, Text: "no disk"}, nil
	case "wordy":
		return &pb.HealthReply{Ok: false, Text: words}, nil
	case "numb":
		<-ctx.Done()
	}
	return &pb.HealthReply{Ok: true}, nil
}

func (l *liar) Prepare(_ context.Context, in *pb.PrepareRequest) (*pb.PrepareReply, error) {
	reply := &pb.PrepareReply{}
	for _, s := range in.GetSpecs() {
		reply.Results = append(reply.Results, &pb.PrepareResult{SpecId: s.GetId()})
	}
	return reply, nil
}

func (l *liar) Next(_ context.Context, in *pb.NextRequest) (*pb.NextReply, error) {
	if l.name == "hangs-in-next" {
		select {}
	}
	reply := &pb.NextReply{}
	for _, item := range in.GetItems() {
		result := &pb.NextResult{SpecId: item.GetSpecId()}
		second := int64(1_000_000)
		switch l.name {
		case "lies-past":
			result.Times = []int64{item.GetAfter()}
		case "lies-now":
			result.Times = []int64{time.Now().UnixMicro()}
		case "lies-unordered":
			result.Times = []int64{item.GetAfter() + 2*second, item.GetAfter() + second}
		case "lies-twice":
			result.Times = []int64{item.GetAfter() + second, item.GetAfter() + second}
		case "lies-late":
			result.Times = []int64{item.GetUntil() + 1}
		case "lies-far":
			result.Times = []int64{1 << 60}
		case "lies-many":
			for i := range int64(item.GetMax()) + 1 {
				result.Times = append(result.Times, item.GetAfter()+i+1)
			}
		case "lies-about-spec":
			result.SpecId = "another"
		case "forgetful":
			result.Problem = &pb.Problem{Kind: pb.Problem_UNKNOWN_SPEC, Message: "who are you?"}
		case "lies-count":
			return reply, nil
		case "wordy":
			result.Problem = &pb.Problem{Kind: pb.Problem_RETRYABLE, Message: words, Stack: words}
		default:
			result.Times = []int64{item.GetAfter() + second}
		}
		reply.Results = append(reply.Results, result)
	}
	return reply, nil
}

func (l *liar) Run(_ *pb.RunRequest, stream grpc.ServerStreamingServer[pb.RunEvent]) error {
	switch l.name {
	case "never-accepts":
	case "wordy":
		_ = stream.Send(&pb.RunEvent{Event: &pb.RunEvent_Accepted{Accepted: &pb.Accepted{}}})
		_ = stream.Send(&pb.RunEvent{Event: &pb.RunEvent_Progress{Progress: &pb.Progress{Message: words}}})
		return stream.Send(&pb.RunEvent{Event: &pb.RunEvent_Outcome{Outcome: &pb.RunOutcome{
			Message: words, Problem: &pb.Problem{Kind: pb.Problem_INTERNAL, Message: words, Stack: words},
		}}})
	case "ends-early":
		return stream.Send(&pb.RunEvent{Event: &pb.RunEvent_Accepted{Accepted: &pb.Accepted{}}})
	case "sends-too-much":
		text := strings.Repeat("x", wire.MaxMessage+1)
		return stream.Send(&pb.RunEvent{Event: &pb.RunEvent_Progress{Progress: &pb.Progress{Message: text}}})
	default:
		if err := stream.Send(&pb.RunEvent{Event: &pb.RunEvent_Accepted{Accepted: &pb.Accepted{}}}); err != nil {
			return err
		}
	}
	<-stream.Context().Done()
	return nil
}
