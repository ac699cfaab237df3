import HTTP
import Identity
import Localization

/// `/audit/retention`: how long entries of the audit log are kept.
struct ChangeAuditRetention: FormAction {
  static let action = ConsoleAction.changeAuditRetention
  static let name = Message("Change audit log retention")
  static let path = Path("audit", "retention")
  let chain: AuditChain

  private static let forever = "forever"

  func page(_ target: FormTarget<SignedIn>) async throws -> FormPage {
    let chosen =
      target.signedIn.request.isReading
      ? try await chain.status().retention : Int(target.form.trimmed("retention"))
    let years = [1, 2, 3, 5, 7, 10].map { $0 * AuditChain.shortestRetention }
    let days = Set(years + [chosen].compactMap { $0 }).sorted()
    let list = ConsolePaths.instanceAudit()
    return FormPage(
      title: Message("Audit log retention"),
      crumbs: [Link(text: Message("Audit log"), href: list)],
      consequences: [
        Message(
          """
          Entries older than the selected period are permanently removed in all projects and \
          tenants.
          """),
        Message(
          """
          A signed record says which entries were removed and when, so the rest can still be \
          verified.
          """),
      ],
      fields: [
        .menu(
          "retention", Message("Keep entries"),
          [Field.Option(value: Self.forever, label: Message("Forever"))]
            + days.map {
              Field.Option(
                value: String($0),
                label: Message(one: "{count} day", other: "{count} days", ["count": .number($0)]))
            }, value: chosen.map { String($0) } ?? Self.forever)
      ], button: Message("Change retention"), back: list)
  }

  /// Returns the number of days; nil for ever.
  func input(_ target: FormTarget<SignedIn>) throws -> Int? {
    let answer = target.form.trimmed("retention")
    let days = Int(answer)
    guard days != nil || answer == Self.forever else { throw Refusal.unreadableForm }
    return days
  }

  func perform(_ days: Int?, _ target: FormTarget<SignedIn>) async throws -> FormEnd {
    let outcome = try await chain.setRetention(days: days, target.request)
    return FormEnd(
      outcome.value
        ? Message("Audit log retention changed.")
        : Message("No changes made. Entries are already kept for this long."),
      at: ConsolePaths.instanceAudit(), after: outcome)
  }

  func fault(_ error: InstanceSettingError, _ target: FormTarget<SignedIn>) throws -> FieldError {
    guard case .retentionOutOfRange = error else { throw error }
    return FieldError(
      field: "retention",
      text: Message(
        one: "Keep entries for at least {count} day.",
        other: "Keep entries for at least {count} days.",
        ["count": .number(AuditChain.shortestRetention)]))
  }
}
