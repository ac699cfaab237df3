import HostileText
import Testing

@testable import Identity

/// Rules measure and compare bytes, so that unchecked text can't cause excessive work.
struct HostileTextTests {
  /// Returns the text with a different first letter.
  private static func changed(_ text: String) -> String {
    var scalars = String.UnicodeScalarView("b".unicodeScalars)
    scalars.append(contentsOf: text.unicodeScalars.dropFirst())
    return String(scalars)
  }

  @Test func `IDs are compared and hashed in linear time`() {
    let work = Work.of { text in
      let (one, other) = (ID<Account>(text), ID<Account>(Self.changed(text)))
      #expect(one != other && one == ID(text))
      #expect(Set([one, other, one]).count == 2)
    }
    #expect(work.isLinear, "\(work)")
  }

  @Test func `the length of an email is checked before it's parsed`() {
    let work = Work.of { text in
      #expect(throws: AccountError.self) { try AccountRules.checkEmail(text) }
      #expect(throws: AccountError.self) { try AccountRules.checkEmail("\(text)@example.com") }
      #expect(TypedEmail(text).folded == "")
    }
    #expect(work.isLinear, "\(work)")
  }

  @Test func `lengths of account fields are checked first`() {
    let work = Work.of { text in
      #expect(throws: AccountError.self) { try AccountRules.checkUID(text) }
      #expect(throws: AccountError.self) { try AccountRules.checkName(text) }
      #expect(throws: AccountError.self) { try AccountRules.checkPhone("+\(text)") }
      #expect(throws: AccountError.self) { try AccountRules.checkClaims("{\"a\":\"\(text)\"}") }
      #expect(throws: AccountError.self) { try AccountRules.checkPhoto(text) }
    }
    #expect(work.isLinear, "\(work)")
  }

  @Test func `lengths of factor fields are checked first`() {
    let work = Work.of { text in
      var entry = FactorEntry()
      entry.id = text
      #expect(throws: AccountError.self) { try Accounts.check([entry, entry]) }
      entry.id = nil
      entry.displayName = text
      #expect(throws: AccountError.self) { try Accounts.check([entry]) }
      entry.displayName = nil
      entry.phoneNumber = text
      #expect(throws: AccountError.self) { try Accounts.check([entry]) }
    }
    #expect(work.isLinear, "\(work)")
  }

  @Test func `search text is truncated before it's folded`() {
    let work = Work.of { text in
      #expect(SearchText.folded(text).unicodeScalars.count <= SearchText.longestField)
      _ = SearchQuery(text)
    }
    #expect(work.isLinear, "\(work)")
  }

  @Test(arguments: ["#", "email\n#", "\"#\",b\nc@example.com", "a,#@example.com"])
  func `a pasted list is parsed in linear time`(list: String) {
    let work = Work.of(64 << 10, HostileText.acceptedMarks) { text in
      let list = list.split(separator: "#", omittingEmptySubsequences: false)
      let lines = try? BulkList(list.joined(separator: text)).lines
      #expect(lines?.allSatisfy { $0.text.unicodeScalars.count <= 300 } == true)
    }
    #expect(work.isLinearInLength, "\(work)")
  }
}
