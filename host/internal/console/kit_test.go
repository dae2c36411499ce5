package console_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// answer is what a console said to a request.
type answer struct {
	status int
	header http.Header
	root   *html.Node
	raw    string
}

// ask sends a request without following where it leads; header are pairs.
func ask(t *testing.T, server *httptest.Server, method, path string, form url.Values, header ...string) answer {
	t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for pair := range slices.Chunk(header, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, root, string(raw)}
}

// shown asks for a page that must be there.
func shown(t *testing.T, server *httptest.Server, path string, header ...string) answer {
	t.Helper()
	a := ask(t, server, "GET", path, nil, header...)
	if a.status != http.StatusOK {
		t.Fatalf("%s: status %d: %s", path, a.status, text(a.root))
	}
	return a
}

// all returns the elements that a test is true of, in their order.
func (a answer) all(is func(*html.Node) bool) []*html.Node {
	var found []*html.Node
	for n := range a.root.Descendants() {
		if n.Type == html.ElementNode && is(n) {
			found = append(found, n)
		}
	}
	return found
}

// id returns the text of the element with an id, or nothing if there is none.
func (a answer) id(id string) string {
	for _, n := range a.all(func(n *html.Node) bool { return attr(n, "id") == id }) {
		return text(n)
	}
	return ""
}

// section returns the text of the section that a heading with an id belongs to.
func (a answer) section(id string) string {
	for _, n := range a.all(func(n *html.Node) bool { return attr(n, "aria-labelledby") == id }) {
		return text(n)
	}
	return ""
}

// forms returns where the forms of a page lead.
func (a answer) forms() []string {
	var found []string
	for _, n := range a.all(func(n *html.Node) bool {
		return n.Data == "form" && strings.EqualFold(attr(n, "method"), "post") || attr(n, "formaction") != ""
	}) {
		action := attr(n, "action")
		if to := attr(n, "formaction"); to != "" {
			action = to
		}
		if action != "/preferences" && action != "/login" {
			found = append(found, action)
		}
	}
	return found
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text is what a node says, with single spaces.
func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && d.Parent.Data != "script" && d.Parent.Data != "style" {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// says wants all of some texts in another one.
func says(t *testing.T, where, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%s does not say %q: %q", where, w, got)
		}
	}
}

// upload sends a file as a browser does.
func upload(t *testing.T, server *httptest.Server, path, file, content string) answer {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("file", file); err != nil {
		t.Fatal(err)
	}
	part, err := form.CreateFormFile("content", "new-"+file)
	if err == nil {
		_, err = part.Write([]byte(content))
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, &body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", form.FormDataContentType())
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, root, string(raw)}
}
