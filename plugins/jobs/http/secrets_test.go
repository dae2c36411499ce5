package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi"
)

// Whatever goes wrong, no secret shows up in the error, the output or the log,
// even if the service quotes its request.
func TestSecretsAreNeverShown(t *testing.T) {
	t.Parallel()
	echo := newService(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		user, password, _ := r.BasicAuth()
		fmt.Fprintf(w, "cannot pass on %s for %s:%s with %v\n", r.RequestURI, user, password, r.Header)
	})
	// A listener that hangs up, and an address where nobody listens.
	hangup := newService(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + free.Addr().String()
	free.Close()

	for name, base := range map[string]string{"echo": echo.URL, "hangs up": hangup.URL, "nobody": nobody, "no name": "http://no-such-host.invalid"} {
		for kind, auth := range map[string]map[string]any{
			"bearer": {"bearer_token": "s3cret-bearer"},
			"basic":  {"basic_auth": map[string]string{"username": "me", "password": "s3cret-password"}},
			"url":    {},
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				t.Parallel()
				host := strings.TrimPrefix(base, "http://")
				settings := map[string]any{
					"url":     "http://me:s3cret-user@" + host + "/job?token=s3cret%2Fquery&x=1",
					"headers": map[string]string{"X-Api-Key": "s3cret-key", "Cookie": "s3cret-cookie"},
				}
				maps.Copy(settings, auth)
				var out bytes.Buffer
				_, err := newJob(t, settings).Run(t.Context(), newRun(&out))
				if err == nil || !strings.HasPrefix(err.Error(), "GET "+base+"/job: ") {
					t.Fatalf("error %v", err)
				}
				all := err.Error() + out.String()
				for _, secret := range []string{"s3cret", encoded("me:s3cret-password"), encoded("me:s3cret-user")} {
					if strings.Contains(all, secret) {
						t.Errorf("shown: %s", all)
					}
				}
			})
		}
	}
}

// encoded is text as the header of basic authentication has it.
func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func TestSettingsFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		settings map[string]any
		want     string
	}{
		{map[string]any{"url": ""}, "url: expected a URL beginning with http:// or https://"},
		{map[string]any{"url": "ftp://me:s3cret@x"}, "url: expected a URL beginning with http://"},
		{map[string]any{"url": "http://"}, "url: the URL has no host"},
		{map[string]any{"url": "http://me:s3cret@x:y z/s3cret"}, "url: not a URL: "},
		{map[string]any{"url": "http://x", "method": "get"}, "method: expected GET, HEAD"},
		{map[string]any{"url": "http://x", "expect_status": []string{"2xx", "20x"}}, "expect_status[1]: expected a text matching"},
		{map[string]any{"url": "http://x", "timeout": 30}, "timeout: expected a duration with a unit"},
		{map[string]any{"url": "http://x", "body": "x", "body_from": "params"}, "body and body_from: params exclude each other"},
		{map[string]any{"url": "http://x", "bearer_token": "s3cret", "basic_auth": map[string]string{"username": "u", "password": "s3cret"}}, "exclude each other"},
		{map[string]any{"url": "http://x", "basic_auth": map[string]string{"username": "u"}}, "basic_auth.password: is required"},
		{map[string]any{"url": "http://x", "headers": map[string]string{"X Y": "s3cret"}}, `headers: "X Y" cannot be the name of a header`},
		{map[string]any{"url": "http://x", "headers": map[string]string{"X-Y": "s3cret\nX-Z: 1"}}, "headers: X-Y: the value holds a control character"},
		{map[string]any{"url": "http://x", "headers": map[string]string{"x-ax-task": "s3cret"}}, "headers: x-ax-task is set by the plugin"},
		{map[string]any{"url": "http://x", "headers": map[string]string{"content-length": "3"}}, "headers: content-length is set by the plugin"},
		{map[string]any{"url": "http://x", "tls": map[string]any{"ca_file": "/no/such.pem"}}, "tls.ca_file: open /no/such.pem: no such file"},
		{map[string]any{"url": "http://x", "tls": map[string]any{"ca_file": "/dev/null"}}, "tls.ca_file: no certificate in /dev/null"},
		{map[string]any{"url": "http://x", "tls": map[string]any{"cert_file": "a.pem"}}, "cert_file and key_file need each other"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			_, err := build(tt.settings)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestFailuresOfTheNetworkAreRetried(t *testing.T) {
	t.Parallel()
	broken := newService(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "half of it")
	})
	_, err := newJob(t, map[string]any{"url": broken.URL}).Run(t.Context(), newRun(new(bytes.Buffer)))
	if err == nil || pluginapi.IsPermanent(err) || !strings.Contains(err.Error(), "read the answer: unexpected EOF") {
		t.Errorf("error %v", err)
	}
}
