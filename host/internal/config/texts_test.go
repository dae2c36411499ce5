package config

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/params"
)

// warningLines loads a configuration that is good and returns its warnings.
func warningLines(t *testing.T, text string) []string {
	t.Helper()
	path := write(t, map[string]string{"config.yaml": text})
	c, err := Load(path, Options{Env: testEnv, CheckTemplate: params.CheckString})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, w := range c.Warnings {
		lines = append(lines, strings.ReplaceAll(w.String(), filepath.Dir(path)+"/", ""))
	}
	return lines
}

// TestDoubtfulTexts: what works, and probably not as it is meant.
func TestDoubtfulTexts(t *testing.T) {
	t.Parallel()
	got := warningLines(t, `app: a
tasks:
  - {name: a, cron: "0 0 9 ? * 1-5", job: {use: exec}}
  - {name: b, cron: "0 0 9 ? * 6,7 2030", job: {use: exec}}
  - name: c
    every: 1m
    params: {day: '{{ date "2006-MM-01" .ScheduledAt }}', fix: '{{ .ScheduledAt | date "today" }}'}
    job: {use: exec, with: {command: [bash, -euc, "run ${params.day}", "${params.day}"]}}
  - {name: d, every: 1m, job: {use: exec, with: {command: [echo, '{{ .ScheduledAt }}']}}}
  - {name: e, every: 1m, job: {use: exec, with: {command: [echo, '{{ .Task }} at $(date +%F)']}}}
  - {name: f, every: 1m, job: {use: exec, with: {command: [tar, cf, "`+"`hostname`"+`.tar", /etc]}}}
`)
	want := []string{
		`config.yaml:3:32: cron: with 6 fields the weekdays 1-5 are Sunday to Thursday (1 is Sunday): write MON-FRI if that is meant, or else names as well`,
		`config.yaml:4:32: cron: with 7 fields the weekdays 6,7 are Friday and Saturday (1 is Sunday): write SAT,SUN if that is meant, or else names as well`,
		`config.yaml:7:29: params: date: MM in "2006-MM-01" stays as it is: layouts are written with the time 2006-01-02 15:04:05, did you mean "2006-01-01"?`,
		`config.yaml:7:89: params: date: "today" names no part of a time: layouts are written with the time 2006-01-02 15:04:05`,
		`config.yaml:8:56: command: the shell runs what ${params.day} holds as a part of the script: write "$AX_PARAM_DAY" in it`,
		`config.yaml:9:67: command: templates are filled in in params only: give {{ .ScheduledAt }} a name there and write ${params.NAME} here`,
		`config.yaml:10:67: command: templates are filled in in params only: give {{ .Task }} a name there and write ${params.NAME} here`,
		`config.yaml:10:82: command: no shell replaces $(date +%F), echo gets it as it stands: write shell: in place of command: if it is to be run`,
		"config.yaml:11:70: command: no shell replaces `hostname`, tar gets it as it stands: write shell: in place of command: if it is to be run",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestNoFalseAlarms: what looks like a mistake, and is none.
func TestNoFalseAlarms(t *testing.T) {
	t.Parallel()
	got := warningLines(t, `app: a
tasks:
  - {name: unix, cron: "0 9 * * 1-5", job: {use: exec}}
  - {name: quartz, cron: "0 0 9 ? * 2-6", job: {use: exec}}
  - {name: names, cron: "0 0 9 ? * SUN-THU", job: {use: exec}}
  - {name: last, cron: "0 0 9 ? * 6L", job: {use: exec}}
  - name: layouts
    every: 1m
    params:
      a: '{{ date "Monday 2 January, 3:04 PM MST" .ScheduledAt }}'
      b: '{{ .ScheduledAt | addDays -1 | date "20060102T150405.000Z0700" }}'
      c: '{{ with .ScheduledAt }}{{ .Year }} {{ $.Task }}{{ end }}{{ $x := slice .Task 0 1 }}{{ $x }}'
      d: '{{ .ScheduledAt.Format "06" }} {{ printf "%Y" .App }}'
    job: {use: exec, with: {shell: 'echo "$AX_PARAM_A" ${HOME} ${x:-y} $${z}'}}
  - name: docker
    every: 1m
    params: {image: x}
    job: {use: exec, with: {command: [docker, ps, --format, "{{ .Names }}", "${params.image}", sh, -c]}}
  - {name: remote, every: 1m, job: {use: exec, with: {command: [ssh, db, "echo $(date) {{ .Host }}"]}}}
  - {name: script, every: 1m, job: {use: exec, with: {command: [sh, -c, "echo $(date)"], env: {FORMAT: "$(x)"}}}}
  - {name: filled, every: 1m, job: {use: exec, with: {command: ["${env:OPS_URL}"]}}}
`)
	if len(got) > 0 {
		t.Errorf("warned of\n%s", strings.Join(got, "\n"))
	}
}

// TestTemplateFaults: a template that fails at every run is refused before.
func TestTemplateFaults(t *testing.T) {
	t.Parallel()
	got := faultLines(t, map[string]string{"config.yaml": `app: a
tasks:
  - name: a
    every: 1m
    job: {use: exec}
    params:
      name: 'x {{ .ScheduleAt }}'
      function: '{{ dat "2006" .ScheduledAt }}'
      layout: '{{ date "YYYY-MM-DD HH:mm" .ScheduledAt }}'
      strftime: '{{ date "%Y%m%d" .ScheduledAt }}'
      zone: '{{ in "Mars" .ScheduledAt }}'
      secret: '{{ .X }}${env:NAME}'
`}, Options{CheckTemplate: params.CheckString})
	want := []string{
		`config.yaml:7:19: params: templates know no .ScheduleAt, did you mean "ScheduledAt"?`,
		`config.yaml:8:21: params: function "dat" not defined, did you mean "date"?`,
		`config.yaml:9:25: params: date: "YYYY-MM-DD HH:mm" names no part of a time: layouts are written with the time 2006-01-02 15:04:05, so write "2006-01-02 15:04"`,
		`config.yaml:10:27: params: date: "%Y%m%d" names no part of a time: layouts are written with the time 2006-01-02 15:04:05, so write "20060102"`,
		`config.yaml:11:21: params: in: "Mars" is no time zone, expected an IANA name such as Asia/Shanghai or UTC`,
		`config.yaml:12:15: params: the template with the value of ${…} has a fault`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
