import Identity
import Templating

/// Who a page acts on: name, pool, email, phone and the end of the uid.
struct UserIdentity: ViewModel {
  private let facts: [Fact]

  /// How many characters of a uid are enough to tell users of one name apart.
  private static let uidLength = 6

  init(_ account: Account, in scope: Scope) {
    facts = [
      Self.fact("Name", account.displayName.map { Words.short($0) }),
      Fact("Pool", HTML.isolated(ApprovalWords.place(scope))),
      Self.fact("Email", account.email), Self.fact("Phone", account.phoneNumber),
      Self.uid(account.id.text),
    ]
  }

  /// The same for a user who has been deleted.
  init(deleted name: String, uid: String, in scope: Scope) {
    facts = [
      Self.fact("User", name), Fact("Pool", HTML.isolated(ApprovalWords.place(scope))),
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
