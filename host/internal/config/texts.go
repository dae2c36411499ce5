package config

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/spelling"
)

// checkTemplates checks the templates in the texts of params.
func (d *decoder) checkTemplates(n *yaml.Node) {
	if n == nil || d.options.CheckTemplate == nil {
		return
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && strings.Contains(n.Value, "{{") {
		d.checkTemplate(n)
	}
	for _, child := range n.Content {
		d.checkTemplates(child)
	}
}

func (d *decoder) checkTemplate(n *yaml.Node) {
	found, known := d.templates[n.Value]
	if !known {
		found = d.options.CheckTemplate(n.Value)
		d.templates[n.Value] = found
	}
	for _, f := range found {
		message, at := "params: "+f.Message, d.atPart(n, f.Part)
		switch {
		case filled(n):
			at, message = d.at(n), "params: the template with the value of ${…} has a fault"
		case f.Word != "":
			message += insteadOf(f.Word, f.Known)
		}
		report := d.faultAt
		if f.Doubt {
			report = d.warn
		}
		report(at, "%s", message)
	}
}

// jobText is a text in the settings of the job exec, with the keys and numbers
// that lead to it.
type jobText struct {
	*yaml.Node
	key string // the outermost key
	// script tells that a shell interprets it; program is what gets it as an
	// argument.
	script  bool
	program string
}

// paramReference matches what is replaced by a parameter, or looks like it.
var paramReference = regexp.MustCompile(`\$\{([a-zA-Z]+)\.([^}]*)\}`)

// template matches what looks like a template, substitution what only a shell
// replaces.
var (
	template     = regexp.MustCompile(`\{\{[^{}]*\}\}`)
	substitution = regexp.MustCompile("\\$\\([^()]+\\)|`[^`]+`")
)

// interpreters are programs whose arguments may hold what looks like a substitution
// of the shell: they do it themselves, or hand it on to a shell.
func interpreters() []string {
	return []string{"ssh", "docker", "podman", "kubectl", "nsenter", "su", "sudo", "env", "timeout", "xargs", "make", "awk", "gawk", "mawk", "perl", "ruby", "psql", "mysql"}
}

// checkJobTexts looks for references to parameters that do not do what they look
// like. Only the job exec is known to have them.
func (d *decoder) checkJobTexts(t *taskDraft) {
	if filepath.Base(t.job.Name) != "exec" || t.job.with == nil {
		return
	}
	for _, text := range execTexts(t.job.with) {
		if filled(text.Node) {
			continue // a secret is not shown, not even a part of it
		}
		if m := template.FindString(text.Value); d.isTemplate(m) {
			d.warn(d.atPart(text.Node, m), "%s: templates are filled in in params only: give %s a name there and write ${params.NAME} here", text.key, m)
		}
		if m := substitution.FindString(text.Value); m != "" && text.program != "" && !slices.Contains(interpreters(), text.program) {
			d.warn(d.atPart(text.Node, m), "command: no shell replaces %s, %s gets it as it stands: write shell: in place of command: if it is to be run", m, text.program)
		}
		for _, m := range paramReference.FindAllStringSubmatch(text.Value, -1) {
			d.checkReference(t, text, m[0], m[1], m[2])
		}
	}
}

// isTemplate reports whether a text would be a good template in params, which means
// that it was written for ax and not for the program that gets it.
func (d *decoder) isTemplate(text string) bool {
	return text != "" && d.options.CheckTemplate != nil && len(d.options.CheckTemplate(text)) == 0
}

// execTexts returns the texts in settings of exec.
func execTexts(with *yaml.Node) []jobText {
	var texts []jobText
	for _, p := range pairs(with) {
		switch p.value.Kind {
		case yaml.ScalarNode:
			texts = append(texts, jobText{Node: p.value, key: p.key.Value, script: p.key.Value == "shell"})
		case yaml.SequenceNode:
			for i, item := range p.value.Content {
				text := jobText{Node: item, key: p.key.Value}
				if text.key == "command" {
					text.script = isScript(p.value.Content, i)
					if program := filepath.Base(p.value.Content[0].Value); i > 0 && !text.script {
						text.program = program
					}
				}
				texts = append(texts, text)
			}
		default:
			for _, entry := range pairs(p.value) {
				texts = append(texts, jobText{Node: entry.value, key: p.key.Value + "." + entry.key.Value})
			}
		}
	}
	return texts
}

// isScript reports whether an argument is what a shell gets with -c.
func isScript(args []*yaml.Node, i int) bool {
	if i < 2 || !slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "ash"}, filepath.Base(args[0].Value)) {
		return false
	}
	flag := args[i-1].Value
	return strings.HasPrefix(flag, "-") && strings.HasSuffix(flag, "c")
}

// checkReference looks at one reference to a parameter.
func (d *decoder) checkReference(t *taskDraft, text jobText, whole, word, param string) {
	at := d.atPart(text.Node, whole)
	variable := "$AX_PARAM_" + variableOf(param)
	switch {
	case spelling.Nearest(word, []string{"params"}) == "": // something of the program's own
	case text.key == "shell":
		d.faultAt(at, `shell: %s is not replaced in a script, which would run what it holds: write "%s"`, whole, variable)
	case word != "params":
		d.faultAt(at, "%s: %s is not replaced, did you mean ${params.%s}?", text.key, whole, param)
	case text.key != "command":
		d.faultAt(at, "%s: %s is replaced in command only; the variable %s has it for the program", text.key, whole, variable[1:])
	case !d.hasParam(t, param):
		var known []string
		for _, p := range pairs(t.params) {
			known = append(known, p.key.Value)
		}
		d.faultAt(at, "command: the task has no parameter %q%s", param, insteadOf(param, known))
	case text.script:
		d.warn(at, `command: the shell runs what %s holds as a part of the script: write "%s" in it`, whole, variable)
	}
}

// hasParam reports whether runs of a task may have a parameter: a provider may
// add some, and so does who runs a task by hand that is never due.
func (d *decoder) hasParam(t *taskDraft, name string) bool {
	if t.paramsFrom.node != nil || !t.Enabled {
		return true
	}
	return slices.ContainsFunc(pairs(t.params), func(p pair) bool { return p.key.Value == name })
}

// variableOf returns what the job exec makes of the name of a parameter in the
// name of a variable.
func variableOf(param string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return '_'
		}
		return unicode.ToUpper(r)
	}, param)
}
