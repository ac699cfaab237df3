import Crypto
import HTTP
import Identity
import Localization
import Text

/// Authenticates and authorizes requests to the console.
///
/// Pages receive the values it returns, so that no page can skip the checks.
struct RequestAuthorizer: Sendable {
  let identity: Identity
  let publicURL: PublicURL
  let cookies: ConsoleCookies
  let catalog: Catalog

  var drafts: Drafts { Drafts(storage: identity.consoleStorage, cookies: cookies) }

  /// Admits any visitor; a form must contain the token of the form cookie.
  func visitor(_ request: Request) throws -> Visitor {
    let known = cookies.formToken(of: request)
    let token = known ?? cookies.newFormToken()
    var form = Form()
    if !request.isReading {
      form = try checkedForm(request)
      guard let known, let sent = form["csrf"], equal(sent, known) else { throw Refusal.staleForm }
    }
    return Visitor(request: request, form: form, formToken: token, hasFormToken: known != nil)
  }

  /// Admits an administrator with a valid session; a form must contain the session's CSRF token.
  ///
  /// At another stage than `ready`, also admits administrators who must set up a second factor or use
  /// their passkey before they can open other pages.
  func signedIn(
    _ request: Request, at stage: SetupStage = .ready
  ) async throws -> SignedIn {
    guard let session = try await session(of: request) else {
      throw await signInFirst(request)
    }
    var form = Form()
    if !request.isReading {
      form = try checkedForm(request)
      guard let sent = form["csrf"], equal(sent, session.csrfToken) else {
        throw try await kept(form, of: request, in: session)
      }
    }
    guard stage.admits(session.secondFactor) else {
      throw Refusal.secondFactorFirst(session.secondFactor, next: ReturnAddress.current(request))
    }
    if !request.isReading {
      await drafts.forget(request, by: session.administrator.id)
    }
    return SignedIn(request: request, form: form, session: session, catalog: catalog)
  }

  func signInFirst(_ request: Request) async -> any Error {
    do {
      let kept: KeptForm = request.isReading ? .ignored : try await keep(request)
      return Refusal.signInFirst(next: ReturnAddress.current(request), kept)
    } catch { return error }
  }

  func session(of request: Request) async throws -> ConsoleSession? {
    guard let token = cookies.sessionToken(of: request) else { return nil }
    return try await identity.consoleSessions.find(token: token)
  }

  /// Returns whether a request has the token of a session, or of one that expired lately, since its
  /// form is kept.
  func hasSession(_ request: Request) async throws -> Bool {
    if try await session(of: request) != nil { return true }
    guard let token = cookies.sessionToken(of: request) else { return false }
    return try await identity.consoleSessions.ranOut(token: token) != nil
  }

  func known(_ request: Request) async -> SignedIn? {
    guard let session = try? await session(of: request), session.secondFactor.isReady else {
      return nil
    }
    return SignedIn(request: request, form: Form(), session: session, catalog: catalog)
  }

  /// Stores a form whose session expired, for the same administrator in the same browser.
  ///
  /// The form must come from the console's origin and contain the token of the expired session.
  private func keep(_ request: Request) async throws -> KeptForm {
    guard Drafts.canKeep(request), let form = try? checkedForm(request) else { return .ignored }
    let lost: KeptForm =
      form.entries.allSatisfy { $0.name == "csrf" || $0.value.isEmpty } ? .ignored : .lost
    guard let token = cookies.sessionToken(of: request), let sent = form["csrf"] else {
      return lost
    }
    let ended = try await identity.consoleSessions.ranOut(token: token)
    guard let ended, equal(sent, ended.csrfToken) else { return lost }
    return try await drafts.keep(form, of: request, by: ended.administrator) == nil
      ? lost : .kept
  }

  /// Stores a form of an expired session whose administrator has signed in again, perhaps in another
  /// tab, so that they can review it; it's never performed.
  ///
  /// Only pages of that session contain its token, so no other site can store a form.
  private func kept(
    _ form: Form, of request: Request, in session: ConsoleSession
  ) async throws -> Refusal {
    let id = session.administrator.id
    guard Drafts.canKeep(request), let sent = form["csrf"] else { return .staleForm }
    let isOfExpired = try await identity.consoleSessions.ranOut(csrfToken: sent.text, of: id)
    guard isOfExpired, let mark = try await drafts.keep(form, of: request, by: id) else {
      return .staleForm
    }
    return .formKept(mark)
  }

  /// The submitted form, if the browser states that it comes from the console's origin.
  ///
  /// The browser sets both `Origin` and `Sec-Fetch-Site`, and pages can't change them. At least one
  /// must confirm the origin, and neither may contradict it.
  private func checkedForm(_ request: Request) throws -> Form {
    let origin = request.fields[.origin].map { UntrustedText($0) }
    let site = request.fields[.secFetchSite].map { UntrustedText($0) }
    // `none` means that the user submitted the form again, for example by reloading.
    guard
      origin == UntrustedText(publicURL.origin) && [nil, "same-origin", "none"].contains(site)
        || origin == nil && site == "same-origin"
    else { throw Refusal.foreignForm }
    let form: Form?
    do throws(FormError) {
      form = try request.form(showingNULIn: ListForm.field)
    } catch { throw Refusal.malformedForm(error) }
    if let form { return form }
    guard request.body.isEmpty else { throw Refusal.notAForm }
    return Form()
  }

  /// Compares secrets in constant time.
  private func equal(_ one: UntrustedText, _ other: String) -> Bool {
    constantTimeEqual(Array(one.utf8), Array(other.utf8))
  }
}

/// A project that the administrator can see at least in part.
struct ProjectContext: Sendable {
  let signedIn: SignedIn
  let pool: Pool

  fileprivate init(_ signedIn: SignedIn, _ pool: Pool) {
    self.signedIn = signedIn
    self.pool = pool
  }
}

/// A pool in which the administrator has the permission that the route requires.
struct PoolContext: Sendable {
  let signedIn: SignedIn
  let pool: Pool

  fileprivate init(_ signedIn: SignedIn, _ pool: Pool) {
    self.signedIn = signedIn
    self.pool = pool
  }

  func may(_ permission: Permission) -> Bool {
    signedIn.administrator.may(permission, in: pool)
  }

  func may(action: ConsoleAction) -> Bool {
    signedIn.administrator.may(action: action, in: pool)
  }

  func offers(_ capability: Capability) -> Bool { pool.offers.contains(capability) }
}

extension RequestAuthorizer {
  /// Authorizes access to a project; projects that aren't visible are reported as not found, and so
  /// is what a visible one doesn't offer, with a reason.
  func project(
    _ signedIn: SignedIn, _ id: String, needing permission: Permission,
    of capability: Capability = .bookkeeping
  ) async throws -> ProjectContext {
    let administrator = signedIn.administrator
    guard administrator.maySee(ID(id)) else { throw Refusal.notFound }
    let pool = try await identity.pools.existing(project: ID(id))
    try pool.check(capability)
    guard permission == .seePool || administrator.may(permission, in: pool) else {
      throw await lacking(permission, signedIn, in: pool)
    }
    return ProjectContext(signedIn, pool)
  }

  /// Authorizes access to a pool.
  ///
  /// A pool that isn't visible is reported as not found, and so is what a visible one doesn't offer,
  /// with a reason; a missing permission is reported as such.
  func pool(
    _ signedIn: SignedIn, _ project: String, _ tenant: String?, needing permission: Permission,
    of capability: Capability = .bookkeeping
  ) async throws -> PoolContext {
    let pool = try await identity.pools.existing(
      project: ID(project), tenant: tenant.map { ID($0) })
    guard signedIn.administrator.may(.seePool, in: pool) else { throw Refusal.notFound }
    try pool.check(capability)
    guard signedIn.administrator.may(permission, in: pool) else {
      throw await lacking(permission, signedIn, in: pool)
    }
    return PoolContext(signedIn, pool)
  }

  func lacking(
    _ permission: Permission, _ signedIn: SignedIn, in pool: Pool?
  ) async -> Refusal {
    // Without the names, the page still states the required role.
    let helpers = try? await identity.administrators.namesOfThose(
      with: permission, in: pool, for: signedIn.administrator)
    return .lacking(
      MissingPermission(permission: permission, signedIn: signedIn, helpers: helpers ?? []))
  }
}

/// How far an administrator must have come with their second factor to open a page.
enum SetupStage: Sendable {
  /// They can open every page.
  case ready
  /// They may still have to set one up.
  case settingUp
  /// They may still have to set one up or to use it.
  case anyStage

  func admits(_ state: SecondFactorState) -> Bool {
    switch self {
    case .ready: state.isReady
    case .settingUp: state != .passkeyUnused
    case .anyStage: true
    }
  }
}

extension SecondFactorState {
  var isReady: Bool {
    switch self {
    case .enrolled, .optional, .dueNext: true
    case .due, .passkeyDue, .passkeyUnused: false
    }
  }
}

extension Request {
  var isReading: Bool { method == .get || method == .head }
}

/// A request that doesn't require a session.
struct Visitor: Sendable {
  let request: Request
  let form: Form
  /// The token that proves a form came from the console; it's in the form cookie and in the form.
  let formToken: String
  let hasFormToken: Bool

  var author: Author {
    Author(actor: .visitor, address: request.peer, requestID: request.id.text)
  }
}

extension Preferences.Theme {
  var attribute: String? { self == .system ? nil : rawValue }
}

struct SignedIn: Sendable {
  let request: Request
  /// The submitted form, checked to come from a page of this session; empty for GET requests.
  let form: Form
  let session: ConsoleSession
  let catalog: Catalog

  var administrator: Administrator { session.administrator }

  var times: Times { Times(catalog, zone: session.preferences.timeZone) }

  var theme: String? { session.preferences.theme.attribute }

  var actor: Actor { .administrator(administrator.id, name: administrator.displayName) }

  var author: Author {
    Author(actor: actor, address: request.peer, requestID: request.id.text)
  }

  var query: Form { request.target.query }
}
