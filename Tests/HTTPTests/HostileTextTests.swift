import HTTP
import HostileText
import Testing
import Text

struct HostileTextTests {
  /// Returns a form's body or a query, with the text inserted at the placeholder.
  private func written(_ form: String, _ text: String) -> String {
    form.split(separator: "#", omittingEmptySubsequences: false).joined(
      separator: HostileText.coded(text))
  }

  @Test(arguments: ["#=1", "a=1&#=2&b=3", "a=#", "a=1&b=#&c=#"])
  func `combining marks in a form field take no extra CPU time`(form: String) {
    let work = Work.of { text in
      let form = Form(urlEncoded: written(form, text))
      #expect(form?["step"] != "confirm" && form?["a"] != "b")
    }
    #expect(work.isLinear, "\(work)")
  }

  @Test(arguments: ["/?#=1", "/?q=#", "/a/#", "/#/a?b=#"])
  func `combining marks in a target take no extra CPU time`(address: String) {
    let path = Path("a", nil, parameters: String.self)
    let work = Work.of { text in
      let target = Target(written(address, text))
      #expect(target?.query["q"] != "b" && target?.segments.first != "b")
      #expect(target.map { path.match($0) == "b" } != true)
    }
    #expect(work.isLinear, "\(work)")
  }

  @Test(arguments: ["/#", "/a/#/b", "#", "/?#"])
  func `raw combining marks in an invalid target take no extra CPU time`(address: String) {
    let work = Work.of { text in
      let raw = address.split(separator: "#", omittingEmptySubsequences: false)
        .joined(separator: text)
      #expect(Target.beginning(of: raw)?.rawPath != "b")
    }
    #expect(work.isLinear, "\(work)")
  }

  @Test func `combining marks in a method take no extra CPU time`() {
    let work = Work.of { text in
      let method = Method(text)
      #expect(method != .get && method != .head)
      #expect(Set([method, .get]).count == 2)
    }
    #expect(work.isLinear, "\(work)")
  }

  @Test func `routing a segment with the most accepted combining marks takes linear time`()
    async throws
  {
    var router = Router()
    for number in 0..<50 {
      router.on(.get, Path(.literal("aaaa\(number)"), nil, parameters: String.self)) { _, text in
        .text(text)
      }
    }
    let routes = router
    let work = try await Work.of(8 << 10, HostileText.acceptedMarks) { text in
      for address in ["/\(HostileText.coded(text))/a", "/aaaa7/\(HostileText.coded(text))"] {
        guard let target = Target(address) else { continue }
        #expect(await routes.respond(to: Request(target: target)) == nil)
      }
    }
    #expect(work.isLinearInLength, "\(work)")
  }

  @Test(arguments: ["#=1; a=2", "a=#; b=2", "a=\"#\"", "b=1; #"])
  func `combining marks in a cookie take no extra CPU time`(line: String) {
    for code in [{ $0 }, HostileText.coded] as [(String) -> String] {
      let work = Work.of { text in
        let line = line.split(separator: "#", omittingEmptySubsequences: false)
        let cookies = Cookies([.cookie: line.joined(separator: code(text))])
        #expect(cookies["a"] != "b" && cookies["session"] == nil)
      }
      #expect(work.isLinear, "\(work)")
    }
  }

  @Test func `a form with the most accepted combining marks is read in linear time`() {
    let work = Work.of(64 << 10, HostileText.acceptedMarks) { text in
      let form = Form(urlEncoded: "a=\(HostileText.coded(text))")
      #expect(form?["a"] == UntrustedText(text) && form?["a"] != "b")
    }
    #expect(work.isLinearInLength, "\(work)")
  }

  @Test func `a name has at most 256 bytes`() {
    let longest = String(repeating: "é", count: 128)
    #expect(Form(urlEncoded: "\(HostileText.coded(longest))=1")?[longest] == "1")
    #expect(Form(urlEncoded: "\(HostileText.coded(longest))x=1") == nil)
    #expect(Target("/?\(HostileText.plain(256))=1") != nil)
    #expect(Target("/?\(HostileText.plain(257))") == nil)
    let line = "\(HostileText.plain(256))=1; \(HostileText.plain(257))=2"
    let cookies = Cookies([.cookie: line])
    #expect(cookies[HostileText.plain(256)] == "1")
    #expect(cookies[HostileText.plain(257)] == nil)
    #expect(cookies.hasLongName && !Cookies([.cookie: "a=\(HostileText.plain(999))"]).hasLongName)
  }

  @Test func `an error explains what's wrong with a form`() {
    let marks = HostileText.coded("e" + String(repeating: "\u{301}", count: 31))
    for (text, error) in [
      ("a=%zz", FormError.badCoding), ("a=%FF", .badCoding), ("a=b%00", .containsNUL),
      ("a=\(marks)", .tooManyMarks),
      ("\(HostileText.plain(257))=1", .nameTooLong),
      ("\(HostileText.plain(9_999))=1", .nameTooLong),
      (String(repeating: "a=1&", count: 1_001), .tooManyFields),
    ] {
      #expect(throws: error) { try Form(reading: text.utf8.span) }
    }
    #expect("\(FormError.nameTooLong)" == "The name of a field is longer than 256 bytes.")
  }

  @Test func `a field is read up to the requested length`() {
    let form: Form = ["a": HostileText.plain(100), "b": HostileText.plain(16 << 10 + 1)]
    #expect(form.text("a", atMost: 100)?.utf8.count == 100)
    #expect(form.text("a", atMost: 99) == nil)
    #expect(form.text("b") == nil && form["b"] != nil)
    #expect(form.text("c") == nil)
  }

  @Test func `more than thirty combining marks in a row are refused`() {
    let text = HostileText.coded("e" + String(repeating: "\u{301}", count: 31))
    #expect(Form(urlEncoded: "a=\(text)") == nil)
    #expect(Target("/\(text)") == nil)
    #expect(Cookies([.cookie: "a=e" + String(repeating: "\u{301}", count: 31)])["a"] == nil)
  }
}
