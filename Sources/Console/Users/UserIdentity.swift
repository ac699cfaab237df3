import Identity
import Templating

/// The user that a page acts on: name, pool, email, phone, and the end of the UID.
struct UserIdentity: ViewModel {
  private let facts: [Fact]

  /// The number of characters of the UID that are shown to tell users of the same name apart.
  private static let uidLength = 6

  init(_ account: Account, in scope: Scope) {
    facts = [
      Self.fact("Name", account.displayName.map { Words.short($0) }),
      Fact("Project", HTML.isolated(ApprovalWords.place(scope))),
      Self.fact("Email", account.email), Self.fact("Phone", account.phoneNumber),
      Self.uid(account.id.text),
    ]
  }

  /// Creates the identity of a deleted user.
  init(deleted name: String, uid: String, in scope: Scope) {
    facts = [
      Self.fact("User", name), Fact("Project", HTML.isolated(ApprovalWords.place(scope))),
      Self.uid(uid), Fact("Account", "deleted"),
    ]
  }

  private static func fact(_ label: String, _ value: String?) -> Fact {
    guard let value, !value.isEmpty else { return Fact(label, "none") }
    return Fact(label, HTML.isolated(value))
  }

  private static func uid(_ uid: String) -> Fact {
    let isCut = uid.count > uidLength
    return Fact("UID", HTML.isolated((isCut ? "…" : "") + uid.suffix(uidLength)))
  }

  static let keys: Keys<Self> = [.list("facts") { $0.facts }]
}
