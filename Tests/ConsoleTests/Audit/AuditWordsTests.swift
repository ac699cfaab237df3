import Foundation
import Testing

@testable import Console

@Suite struct AuditWordsTests {
  /// The text of every file of the rules.
  private static let sources: [String] = {
    let folder = Checkout.folder("Sources/Identity")
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(".swift") }.sorted().compactMap {
      try? String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8)
    }
  }()

  /// What looks like an action and is none.
  private static let others: Set = [
    "securetoken.countersign", "example.com", "example.net", "example.org", "mail.test",
    "oidc.staff",
  ]

  @Test func `every action of the rules has words, and a group to find it by`() throws {
    let literals = Self.sources.flatMap { text in
      text.matches(of: /"([a-z]+(?:-[a-z]+)*\.[a-z]+(?:-[a-z]+)*)"/).map { String($0.1) }
    }
    let actions = Set(literals).subtracting(Self.others)
    #expect(actions.count > 20)
    #expect(actions.subtracting(AuditWords.actions.keys).sorted() == [], "without words")
    #expect(Set(AuditWords.actions.keys).subtracting(actions).sorted() == [], "of no rule")
    let groups = Set(actions.map { String($0.prefix { $0 != "." }) })
    #expect(Set(AuditWords.groups.map(\.name)) == groups)
  }

  @Test func `every kind of thing that rows are about can be chosen`() throws {
    let kinds = Self.sources.flatMap { text in
      text.matches(of: /AuditEntry\(\s*(?:"[a-z.-]+"|action),\s*"([a-z ]+)"/).map { String($0.1) }
    }
    #expect(Set(kinds).count > 6)
    #expect(Set(kinds) == Set(AuditWords.objectKinds.map(\.kind)))
  }
}
