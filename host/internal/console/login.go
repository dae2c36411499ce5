package console

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// loginRoutes are for those who have not said yet who they are.
func (s *console) loginRoutes() {
	s.mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		s.showLogin(w, r, http.StatusOK, loginData{Back: local(r.URL.Query().Get("back"))})
	})
	s.mux.HandleFunc("POST /login", s.login)
	s.mux.HandleFunc("POST /logout", s.logout)
	s.mux.HandleFunc("GET /login/oidc", s.depart)
	s.mux.HandleFunc("GET /login/oidc/callback", s.arrive)
}

// loginData is what the page with the login shows.
type loginData struct {
	Password bool
	Provider string
	Name     string
	Back     string
	// Failed is what went wrong; Wait how long to wait.
	Failed string
	Wait   time.Duration
}

func (s *console) showLogin(w http.ResponseWriter, r *http.Request, status int, d loginData) {
	d.Password, d.Provider = s.logins.Ways()
	if !d.Password && d.Provider == "" {
		http.Redirect(w, r, d.Back, http.StatusSeeOther)
		return
	}
	p := s.newPage(r)
	p.Data = d
	s.render(w, r, status, "login", p)
}

// login takes a name and a password. What it answers does not tell which of the
// two was wrong.
func (s *console) login(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, badRequest("The form cannot be read."))
		return
	}
	d := loginData{Name: strings.TrimSpace(r.PostForm.Get("name")), Back: local(strings.TrimSpace(r.PostForm.Get("back")))}
	ok, wait := s.logins.Login(w, r, d.Name, r.PostForm.Get("password"))
	switch {
	case ok:
		http.Redirect(w, r, d.Back, http.StatusSeeOther)
	case wait > 0:
		d.Wait = max(wait.Round(time.Second), time.Second)
		w.Header().Set("Retry-After", strconv.Itoa(int(d.Wait.Seconds())))
		s.showLogin(w, r, http.StatusTooManyRequests, d)
	default:
		d.Failed = s.newPage(r).T("Name or password is wrong.")
		s.showLogin(w, r, http.StatusUnauthorized, d)
	}
}

func (s *console) logout(w http.ResponseWriter, r *http.Request) {
	s.logins.Logout(w, r)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// depart leads to the identity provider.
func (s *console) depart(w http.ResponseWriter, r *http.Request) {
	back := local(r.URL.Query().Get("back"))
	if err := s.logins.Depart(w, r, back); err != nil {
		s.showLogin(w, r, http.StatusBadGateway, loginData{Back: back, Failed: s.newPage(r).T("The provider cannot be asked.")})
	}
}

// arrive takes those in who come from the provider. Why it failed is in the log.
func (s *console) arrive(w http.ResponseWriter, r *http.Request) {
	back, err := s.logins.Arrive(w, r)
	if err != nil {
		s.showLogin(w, r, http.StatusForbidden, loginData{Back: "/", Failed: s.newPage(r).T("The provider does not let you in here.")})
		return
	}
	http.Redirect(w, r, local(back), http.StatusSeeOther)
}
