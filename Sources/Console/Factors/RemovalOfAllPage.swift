import HTTP
import Identity
import Templating

/// `S/users/{uid}/factors/removal`: asks, and removes all factors of a user.
struct RemovalOfAllPage: Sendable {
  let unenrolments: Unenrolments
  let frames: Frames
  let view: Template<RemovalOfAllView>

  func ask(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    try await page(context, uid, reason: "", note: "", errors: [])
  }

  func remove(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    let typed = context.signedIn.form.trimmed("reason")
    let note = context.signedIn.form.trimmed("note")
    guard let reason = DeskReason(rawValue: typed) else {
      let fault = FieldError(field: "reason", text: "Choose the reason that fits best.")
      return try await page(context, uid, reason: typed, note: note, errors: [fault])
    }
    let removal: RemovalOfAll
    do {
      removal = try await unenrolments.removeAll(
        context.scope, ID(uid), reason: reason, note: note, by: context.signedIn.author)
    } catch {
      let fault = try RemovalPage.fault(error)
      return try await page(context, uid, reason: typed, note: note, errors: [fault])
    }
    let factors = Words.count(removal.account.factors.count, "factor", "factors")
    frames.leave(
      "Removed \(factors). \(SessionWords.ended(removal.sessionsEnded)) The password alone lets this user in until they enrol again.",
      for: context.signedIn)
    return .redirect(to: ConsolePaths.user(context.scope, uid))
  }

  private func page(
    _ context: ScopeContext, _ uid: String, reason: String, note: String, errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let removal: RemovalOfAll
    do {
      removal = try await unenrolments.consequencesOfAll(context.scope, ID(uid))
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
    let scope = context.scope
    let user = Words.isolated(removal.account.label)
    var frame = try await frames.frame(
      "Remove all factors · \(user) · Users", in: context, tab: .users)
    frame.errors = errors
    frame.crumbs = Link.crumbs(to: removal.account, in: scope)
    let model = RemovalOfAllView(
      frame: FrameView(frame), context: context, removal: removal, reason: reason, note: note)
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct RemovalOfAllView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let removal: RemovalOfAll
  let reason: String
  let note: String

  private var consequences: [String] {
    let factors = removal.account.factors
    let names = factors.map { "“\(Words.isolated($0.label))”" }.joined(separator: ", ")
    return [
      "\(Words.count(factors.count, "factor goes", "factors go")): \(names).",
      SessionWords.ending(
        removal.sessionsEnded, none: "No session of this user is open; nothing else ends."),
      "At the next sign-in the password alone lets this user in, until they enrol again.",
      FactorWords.mail(to: removal.account),
      "It cannot be undone. To have a second factor again, the user enrols anew.",
    ].compactMap { $0 }
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("action") { ConsolePaths.removalOfAll($0.context.scope, $0.removal.account.id.text) },
    .text("keep") { ConsolePaths.user($0.context.scope, $0.removal.account.id.text) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text("userName") { Words.short($0.removal.account.label) },
    .texts("consequences") { $0.consequences },
    .list("reasons") { view in
      DeskReason.allCases.map { ReasonChoice(reason: $0, isChecked: $0.rawValue == view.reason) }
    },
    .text("reasonError") { $0.frame.error(at: "reason") },
    .text("note") { $0.note },
    .text("noteError") { $0.frame.error(at: "note") },
    .list("factors") { view in
      view.removal.account.factors.map { factor in
        Fact(
          Words.short(factor.label, 40),
          factor.lastUsedAt.map(view.frame.times.past) ?? AccountChips.never)
      }
    },
  ]
}
