package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

// Secrets that come from the environment or from files reach the jobs and are
// seen nowhere else, also when the jobs fail and say them.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := newWorld(t, "exec", "http")
	secrets := map[string]string{"TOKEN": "t0ken-7f3a", "PASSWORD": `p"ss\wörd-91`, "HOOK": "h00k-path-55"}
	for name, value := range secrets {
		w.env = append(w.env, name+"="+value)
	}
	secrets["FILE"] = "from-a-file-42"
	w.write("secret", secrets["FILE"]+"\n")
	config := strings.ReplaceAll(`
defaults: {retry: {count: 1, delay: 100ms}}
tasks:
- name: tell
  every: 1s
  job:
    use: exec
    with:
      shell: 'echo "$TOKEN $PASSWORD $FILE and $AX_PARAM_TOKEN"; echo "::ax-result {\"token\": \"$TOKEN\"}"; ps -ef; echo "$TOKEN is wrong" >&2; exit 1'
      env: {TOKEN: "${env:TOKEN}", PASSWORD: "${env:PASSWORD}", FILE: "${file:secret}"}
  params: {token: "${env:TOKEN}", note: "{{ .Task }} with ${env:PASSWORD}"}
- name: call
  every: 1s
  job:
    use: http
    with:
      url: URL/broken/${env:HOOK}?token=${env:TOKEN}
      headers: {X-Token: "${env:TOKEN}"}
      basic_auth: {username: me, password: "${env:PASSWORD}"}
`, "URL", s.URL)
	w.config(config)
	h := w.start()
	told := w.some("tell", 1, ax.StatusFailed)[0]
	w.some("call", 1, ax.StatusFailed)
	if got := s.awaited(w, "/broken/"+secrets["HOOK"], 1)[0].header.Get("X-Token"); got != secrets["TOKEN"] {
		t.Errorf("the job sent the token %q", got)
	}
	output := w.texts(strconv.FormatInt(told.ID, 10), ax.StageOutput)
	if !strings.Contains(output, "[secret] [secret] [secret] and [secret]") {
		t.Errorf("the job did not get the secrets: %s", output)
	}
	w.config(strings.Replace(config, "retry: {count: 1", "retry: {count: none", 1))
	h.logs("not put in force")

	places := map[string]string{"ps": commandLines(w, h), "ax plugins": w.axOK("plugins"), "metrics": w.get("/metrics")}
	for _, path := range []string{"tasks", "tasks/tell", "instances?limit=1000", "plugins", "health", "openapi.json"} {
		places["API "+path] = w.get(api.Base + "/" + path)
	}
	for _, r := range w.rows("1 = 1") {
		id := strconv.FormatInt(r.ID, 10)
		places["log of "+r.Task] += w.get(api.Base + "/instances/" + id + "/log?limit=10000")
	}
	h.stop()
	places["log of the host"] = w.log.since(0)
	for _, name := range []string{"ax.db", "ax.db-wal"} {
		places[name] = w.read("data/" + name)
	}
	for place, text := range places {
		for name, secret := range secrets {
			if quoted := strconv.Quote(secret); strings.Contains(text, secret) || strings.Contains(text, quoted[1:len(quoted)-1]) {
				t.Errorf("%s shows the secret %s", place, name)
			}
		}
	}
}

// commandLines returns what ps shows of a world's processes.
func commandLines(w *world, h *host) string {
	own, _ := lookAt(h.cmd.Process.Pid)
	lines := own.command
	for _, p := range w.processes() {
		lines += "\n" + p.command
	}
	return lines
}

// get returns the body of an answer of the API, which must be 200.
func (w *world) get(path string) string {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://"+w.addr+path, http.NoBody)
	w.must(err)
	resp, err := http.DefaultClient.Do(req)
	w.must(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	w.must(err)
	if resp.StatusCode != http.StatusOK {
		w.t.Fatalf("GET %s: %s: %s", path, resp.Status, body)
	}
	return string(body)
}

// A task that people make, in whatever way, names its secret. The job gets it, and it
// is in no row, log, answer or page; without it in the configuration the task waits.
func TestSecretsOfTasksThatPeopleMake(t *testing.T) {
	t.Parallel()
	const secret = "t0ken-of-files-7f3a"
	s := newService(t)
	w := newWorld(t, "http")
	w.env = append(w.env, "FILES_TOKEN="+secret)
	const config = "tasks: []\n"
	w.config("secrets: {files-token: \"${env:FILES_TOKEN}\"}\n" + config)
	h := w.start()
	definition := func(name, token string) string {
		return fmt.Sprintf(`{"name": %q, "every": "1s", "job": {"use": "http", "with": {"url": "%s/%s", "bearer_token": %q}}}`, name, s.URL, name, token)
	}
	create := func(text string) (status int) {
		status, _ = w.send(http.MethodPost, "/tasks", text)
		return status
	}
	form := url.Values{
		"do": {"save"}, "name": {"by-form"}, "when": {"every"}, "every": {"1s"}, "enabled": {"yes"}, "job.use": {"http"},
		"job.with.url": {s.URL + "/by-form"}, "job.with.bearer_token": {secret},
	}

	if status := create(definition("by-api", secret)); status != http.StatusUnprocessableEntity {
		t.Errorf("over the API with a secret: %d", status)
	}
	if status, _, _ := w.page("/define", form); status != http.StatusUnprocessableEntity {
		t.Errorf("in the console with a secret: %d", status)
	}
	w.write("by-command.json", definition("by-command", secret))
	if r := w.ax("tasks", "create", "by-command.json"); r.code == 0 || !strings.Contains(r.err, "job.with.bearer_token: a secret is not written down here") {
		t.Errorf("by command with a secret: %+v", r)
	}
	if status := create(definition("by-api", "${secret:other}")); status != http.StatusUnprocessableEntity {
		t.Errorf("with a secret that is not there: %d", status)
	}

	if status := create(definition("by-api", "${secret:files-token}")); status != http.StatusCreated {
		t.Errorf("over the API: %d", status)
	}
	form.Set("job.with.bearer_token", "${secret:files-token}")
	if status, _, said := w.page("/define", form); status != http.StatusSeeOther {
		t.Errorf("in the console: %d %s", status, said)
	}
	w.write("by-command.json", definition("by-command", "${secret:files-token}"))
	w.axOK("tasks", "create", "by-command.json")
	names := []string{"by-api", "by-form", "by-command"}
	for _, name := range names {
		if got := s.awaited(w, "/"+name, 1)[0].header.Get("Authorization"); got != "Bearer "+secret {
			t.Errorf("%s sent %q", name, got)
		}
	}

	places := map[string]string{"ax plugins": w.axOK("plugins"), "audit": w.get(api.Base + "/audit"), "the page of all": w.get("/tasks")}
	for _, name := range names {
		for _, path := range []string{"/tasks/" + name, "/tasks/" + name + "/edit", "/tasks/" + name + "/edit?text", api.Base + "/tasks/" + name, api.Base + "/tasks/" + name + "/definition"} {
			places[path] = w.get(path)
		}
	}
	w.config(config)
	for _, name := range names {
		w.parked(name, `there is no secret "files-token"`)
	}
	h.stop()
	places["log of the host"] = w.log.since(0)
	for _, name := range []string{"ax.db", "ax.db-wal"} {
		places[name] = w.read("data/" + name)
	}
	for place, text := range places {
		if strings.Contains(text, secret) {
			t.Errorf("%s shows the secret", place)
		}
	}
}
