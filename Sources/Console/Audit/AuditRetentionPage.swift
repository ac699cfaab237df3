import HTTP
import Identity
import Localization
import Templating

/// `/audit/retention`: how long entries of the audit log are kept.
struct AuditRetentionPage: Sendable {
  let chain: AuditChain
  let actions: ActionForms
  let view: Template<AuditRetentionView>

  func show(_ signedIn: SignedIn) async throws -> Response {
    let status = try await chain.status()
    return try await page(signedIn, chosen: status.retention, errors: [])
  }

  func change(_ signedIn: SignedIn) async throws -> Response {
    let answer = signedIn.form.trimmed("retention")
    let days = Int(answer)
    guard days != nil || answer == AuditRetentionView.forever else { throw Refusal.unreadableForm }
    do {
      let outcome = try await chain.setRetention(days: days, actions.request(signedIn))
      return actions.leave(
        outcome.value
          ? Message("Audit log retention changed.")
          : Message("No changes made. Entries are already kept for this long."),
        signedIn, after: outcome, to: ConsolePaths.instanceAudit())
    } catch {
      let errors = try await actions.faults(error, .changeAuditRetention, signedIn) {
        (error: InstanceSettingError) in
        guard case .retentionOutOfRange = error else { throw error }
        return FieldError(
          field: "retention",
          text: Message(
            one: "Keep entries for at least {count} day.",
            other: "Keep entries for at least {count} days.",
            ["count": .number(AuditChain.shortestRetention)]))
      }
      return try await page(signedIn, chosen: days, errors: errors)
    }
  }

  private func page(
    _ signedIn: SignedIn, chosen: Int?, errors: [FieldError]
  ) async throws -> Response {
    var frame = await actions.frames.frame(Message("Audit log retention"), for: signedIn)
    frame.errors = errors
    frame.crumbs = [
      Link(text: Message("Audit log"), href: ConsolePaths.instanceAudit())
    ]
    let framed = FrameView(frame)
    let model = AuditRetentionView(
      frame: framed, csrf: signedIn.session.csrfToken, chosen: chosen,
      fields: try await actions.fields(.changeAuditRetention, signedIn, framed))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct AuditRetentionView: ViewModel {
  static let forever = "forever"

  let frame: FrameView
  let csrf: String
  /// The number of days; nil for ever.
  let chosen: Int?
  let fields: ActionFields

  private var choices: [Choice] {
    let years = [1, 2, 3, 5, 7, 10].map { $0 * AuditChain.shortestRetention }
    let days = Set(years + [chosen].compactMap { $0 }).sorted()
    return [
      Choice(
        value: Self.forever, text: Message("Forever"), isChosen: chosen == nil)
    ]
      + days.map {
        Choice(
          value: String($0),
          text: Message(one: "{count} day", other: "{count} days", ["count": .number($0)]),
          isChosen: $0 == chosen)
      }
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .text("action") { _ in ConsolePaths.auditRetention() },
    .text("back") { _ in ConsolePaths.instanceAudit() },
    .list("choices") { $0.choices },
    .text("error") { $0.frame.error(at: "retention") },
    .object("authorization") { $0.fields },
  ]
}
