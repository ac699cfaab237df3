import HTTP
import Identity

/// Decides who may pass.
///
/// Pages get what it returns, so that none can forget to ask.
struct Gate: Sendable {
  let identity: Identity
  let publicURL: PublicURL
  let cookies: ConsoleCookies
  let drafts = Drafts()

  /// Admits anybody; a form must carry the token of the page it came from.
  func visitor(_ request: Request) throws(Refusal) -> Visitor {
    let known = cookies.formToken(of: request)
    let token = known ?? cookies.newFormToken()
    var form = Form()
    if !request.isReading {
      form = try checkedForm(request)
      guard let known, let sent = form["csrf"], equal(sent, known) else { throw .staleForm }
    }
    return Visitor(request: request, form: form, formToken: token, hasFormToken: known != nil)
  }

  /// Admits an administrator with a living session; a form must carry the session's token.
  ///
  /// Pages that say so are for those too who must set up a second factor before anything else.
  func signedIn(
    _ request: Request, isSettingUp: Bool = false
  ) async throws(Refusal) -> SignedIn {
    guard let session = try await session(of: request) else {
      let isKept = request.isReading ? false : try await keep(request)
      throw .signInFirst(next: ReturnAddress.current(request), isKept: isKept)
    }
    var form = Form()
    if !request.isReading {
      form = try checkedForm(request)
      guard let sent = form["csrf"], equal(sent, session.csrfToken) else { throw .staleForm }
    }
    if session.secondFactor == .due, !isSettingUp { throw .secondFactorFirst }
    if !request.isReading {
      drafts.forget(sentTo: request.target.rawPath, browser: cookies.formToken(of: request))
    }
    return SignedIn(request: request, form: form, session: session)
  }

  /// The session whose token a request carries, if it lives.
  func session(of request: Request) async throws(Refusal) -> ConsoleSession? {
    guard let token = cookies.sessionToken(of: request) else { return nil }
    do {
      return try await identity.consoleSessions.find(token: token)
    } catch {
      throw .unavailable(error)
    }
  }

  /// Who asks, for a page that says why another is not shown; nil where that is not to be known.
  func known(_ request: Request) async -> SignedIn? {
    guard let session = try? await session(of: request), session.secondFactor != .due else {
      return nil
    }
    return SignedIn(request: request, form: Form(), session: session)
  }

  /// Keeps a form whose session ran out, for the same administrator in the same browser.
  ///
  /// It must come from our own page and carry the token of the very session that ran out.
  private func keep(_ request: Request) async throws(Refusal) -> Bool {
    guard let token = cookies.sessionToken(of: request),
      let browser = cookies.formToken(of: request), let form = try? checkedForm(request),
      let sent = form["csrf"]
    else { return false }
    let ended: EndedConsoleSession?
    do { ended = try await identity.consoleSessions.ranOut(token: token) } catch {
      throw .unavailable(error)
    }
    guard let ended, equal(sent, ended.csrfToken) else { return false }
    return drafts.keep(
      form, sentTo: request.target.rawPath, by: ended.administrator, browser: browser,
      at: identity.clock.now())
  }

  /// A form, when a browser says that it comes from our own origin.
  ///
  /// Both `Origin` and `Sec-Fetch-Site` are written by the browser and out of a page's reach. One
  /// of them must speak for the form; none may speak against it.
  private func checkedForm(_ request: Request) throws(Refusal) -> Form {
    let origin = request.fields[.origin].map { UntrustedText($0) }
    let site = request.fields[.secFetchSite].map { UntrustedText($0) }
    // `none` is a person who sends a form again, as by reloading.
    guard
      origin == UntrustedText(publicURL.origin) && [nil, "same-origin", "none"].contains(site)
        || origin == nil && site == "same-origin"
    else { throw .foreignForm }
    let form: Form?
    do throws(FormError) { form = try request.form() } catch { throw .malformedForm(error) }
    if let form { return form }
    guard request.body.isEmpty else { throw .notAForm }
    return Form()
  }

  /// Compares secrets without telling where they differ.
  private func equal(_ one: UntrustedText, _ other: String) -> Bool {
    constantTimeEqual(Array(one.utf8), Array(other.utf8))
  }
}

/// A project of which the administrator may see at least a part.
struct ProjectContext: Sendable {
  let signedIn: SignedIn
  let project: Project

  fileprivate init(_ signedIn: SignedIn, _ project: Project) {
    self.signedIn = signedIn
    self.project = project
  }
}

/// A scope in which the administrator has the permission that the route asks for.
struct ScopeContext: Sendable {
  let signedIn: SignedIn
  let scope: Scope

  fileprivate init(_ signedIn: SignedIn, _ scope: Scope) {
    self.signedIn = signedIn
    self.scope = scope
  }

  /// Whether the administrator may do something more here.
  func may(_ permission: Permission) -> Bool {
    signedIn.administrator.may(permission, in: scope)
  }
}

extension Gate {
  /// Admits to a project; what is not visible does not exist.
  func project(
    _ signedIn: SignedIn, _ id: String, needing permission: Permission
  ) async throws(Refusal) -> ProjectContext {
    let administrator = signedIn.administrator
    guard administrator.maySee(ID(id)) else { throw .notFound }
    let project: Project
    do {
      project = try await identity.projects.find(ID(id))
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
    guard permission == .seeScope || administrator.may(permission, in: project.scope) else {
      throw await lacking(permission, signedIn, in: project.scope)
    }
    return ProjectContext(signedIn, project)
  }

  /// Admits to a scope; what is not visible does not exist, what is not allowed is refused.
  func scope(
    _ signedIn: SignedIn, _ project: String, _ tenant: String?, needing permission: Permission
  ) async throws(Refusal) -> ScopeContext {
    let scope: Scope
    do {
      scope = try await identity.scopes.existing(
        project: ID(project), tenant: tenant.map { ID($0) })
    } catch {
      throw Refusal(error)
    }
    guard signedIn.administrator.may(.seeScope, in: scope) else { throw .notFound }
    guard signedIn.administrator.may(permission, in: scope) else {
      throw await lacking(permission, signedIn, in: scope)
    }
    return ScopeContext(signedIn, scope)
  }

  /// The refusal that says whom to ask.
  func lacking(
    _ permission: Permission, _ signedIn: SignedIn, in scope: Scope?
  ) async -> Refusal {
    // Without the names the page still says which role it takes.
    let helpers = try? await identity.administrators.namesOfThose(
      with: permission, in: scope, for: signedIn.administrator)
    return .lacking(
      MissingPermission(permission: permission, signedIn: signedIn, helpers: helpers ?? []))
  }
}

extension Request {
  /// Whether it only asks.
  var isReading: Bool { method == .get || method == .head }
}
