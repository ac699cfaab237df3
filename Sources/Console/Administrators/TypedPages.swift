import HTTP
import Identity
import Templating

/// `/administrators/{id}/factor-reset` and `/administrators/{id}/removal`: perform the action after
/// the administrator's email address is typed as confirmation.
struct TypedPage: Sendable {
  /// An action on another administrator.
  enum Deed: Sendable {
    case reset, remove

    var action: ConsoleAction { self == .reset ? .resetAdministratorFactor : .removeAdministrator }
  }

  let deed: Deed
  let identity: Identity
  let actions: ActionForms
  let view: Template<TypedView>

  private var frames: Frames { actions.frames }

  func ask(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    try await page(signedIn, id, typed: "", errors: [])
  }

  func act(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    let record = try await AdministratorPage.record(id, identity)
    let administrator = record.administrator
    let typed = signedIn.form.trimmed("confirmation")
    guard typed.lowercased() == administrator.email.lowercased() else {
      let fault = FieldError(
        field: "confirmation", text: "The address doesn’t match. Type it exactly as shown.")
      let errors = [fault] + (try await actions.unmet(deed.action, signedIn))
      return try await page(signedIn, id, typed: typed, errors: errors)
    }
    let name = Words.isolated(administrator.displayName)
    let request = actions.request(signedIn)
    do {
      switch deed {
      case .reset:
        let outcome = try await identity.administratorFactors.reset(administrator.id, request)
        return actions.leave(
          "The second factor of \(name) was reset, and their sessions were ended.", signedIn,
          after: outcome, to: ConsolePaths.administrator(id))
      case .remove:
        let outcome = try await identity.administrators.remove(administrator.id, request)
        return actions.leave(
          "\(name) is no longer an administrator." + Self.revoked(outcome.value), signedIn,
          after: outcome, to: ConsolePaths.administrators())
      }
    } catch {
      let errors = try await actions.faults(error, deed.action, signedIn, fault)
      return try await page(signedIn, id, typed: typed, errors: errors)
    }
  }

  /// A sentence about revoked service tokens; empty if there are none.
  static func revoked(_ tokens: Int) -> String {
    guard tokens > 0 else { return "" }
    let words = Words.count(tokens, "service token", "service tokens")
    return " \(words) they created \(tokens == 1 ? "was" : "were") revoked."
  }

  private func fault(_ error: ManagementError) throws(Refusal) -> FieldError {
    switch error {
    case .notAllowed: throw .notAllowed(.manageAdministrators)
    case .oneself:
      return FieldError(
        field: "confirmation",
        text:
          "You can’t do this to your own account. Ask \(Permission.manageAdministrators.otherHolder)."
      )
    case .lastOwner:
      return FieldError(
        field: "confirmation",
        text: GrantWords.lastOwner)
    case .notFound, .scopeNotFound, .invalidEmail, .invalidName, .emailTaken: throw .notFound
    case .unavailable: throw .unavailable(error)
    }
  }

  private func page(
    _ signedIn: SignedIn, _ id: String, typed: String, errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let record = try await AdministratorPage.record(id, identity)
    let administrator = record.administrator
    guard administrator.id != signedIn.administrator.id,
      deed == .remove || record.hasSecondFactor
    else { return .redirect(to: ConsolePaths.administrator(id)) }
    let tokens =
      deed == .reset
      ? 0
      : try await refusing { try await identity.serviceTokens.count(madeBy: administrator.id) }
    let name = Words.isolated(administrator.displayName)
    let title = deed == .reset ? "Reset second factor" : "Remove administrator"
    var frame = frames.frame(
      "\(title) · \(name) · Administrators", for: signedIn, tab: .administrators)
    frame.errors = errors
    frame.crumbs = [
      Link(text: "Administrators", href: ConsolePaths.administrators()),
      Link(text: Words.short(administrator.displayName), href: ConsolePaths.administrator(id)),
    ]
    let frameView = FrameView(frame)
    let model = TypedView(
      frame: frameView, csrf: signedIn.session.csrfToken, deed: deed,
      administrator: administrator, tokens: tokens, typed: typed,
      fields: try await actions.fields(deed.action, signedIn, frameView))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct TypedView: ViewModel {
  let frame: FrameView
  let csrf: String
  let deed: TypedPage.Deed
  let administrator: Administrator
  /// The number of service tokens created by this administrator, which are revoked.
  let tokens: Int
  let typed: String
  let fields: ActionFields

  private var consequences: [String] {
    switch deed {
    case .reset:
      [
        "Their authenticator and recovery codes stop working, and all their sessions end.",
        administrator.mustHaveSecondFactor
          ? "At their next sign-in, the password gives access only to setting up a new second factor."
          : "At their next sign-in, the password alone is enough.",
        "Verify that the request comes from them: anyone who knows the password can set up a new one.",
      ]
    case .remove:
      [
        "All their sessions end immediately, and their roles, second factor, and recovery codes are deleted.",
        tokens == 0
          ? nil
          : "\(Words.count(tokens, "service token", "service tokens")) they created \(tokens == 1 ? "is" : "are") revoked. Programs that use \(tokens == 1 ? "it" : "them") lose access.",
        "Their actions stay in the audit log.",
        "This can’t be undone. To restore their access, invite them again.",
      ].compactMap { $0 }
    }
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .flag("isReset") { $0.deed == .reset },
    .text("name") { Words.short($0.administrator.displayName) },
    .text("email") { $0.administrator.email },
    .text("csrf") { $0.csrf },
    .text("action") {
      $0.deed == .reset
        ? ConsolePaths.factorReset($0.administrator.id.text)
        : ConsolePaths.administratorRemoval($0.administrator.id.text)
    },
    .text("keep") { ConsolePaths.administrator($0.administrator.id.text) },
    .texts("consequences") { $0.consequences },
    .object("authorization") { $0.fields },
    .text("typed") { $0.typed },
    .text("error") { $0.frame.error(at: "confirmation") },
    .text("button") { $0.deed == .reset ? "Reset second factor" : "Remove administrator" },
  ]
}
