import Identity
import Testing

/// Names in emails have nothing that mail clients turn into links.
struct SafeNameTests {
  @Test(arguments: [
    ("Problem? Call support +1 900 555 1234", "Problem? Call support +…1234"),
    ("(900) 555.1234 or 555-1234", "(…1234 or …1234"), ("+12025550143", "+…0143"),
    ("1\u{2011}900\u{A0}555\u{2013}1234", "…1234"),
    ("1\u{200B}900\u{AD}5551234", "…1234"),
    (
      "\u{661}\u{669}\u{660}\u{660}\u{665}\u{665}\u{665}\u{664}",
      "…\u{665}\u{665}\u{665}\u{664}"
    ),
    ("tel:+1900", "tel 1900"), ("tel:1900", "tel 1900"), ("\u{FF0B}1900", "1900"),
  ])
  func `phone numbers are cut to their last digits`(name: String, shown: String) {
    #expect(SafeName.unlinked(name) == shown)
  }

  @Test(arguments: [
    ("evil.com", "evil com"), ("evil.\u{200B}com", "evil com"), ("evil.\u{AD}com", "evil com"),
    ("evil.\u{FE0F}com", "evil com"), ("evil.\u{2060}\u{202E}com", "evil com"),
    ("evil\u{2024}com", "evil com"), ("evil\u{3002}com", "evil com"),
    ("evil\u{FE52}com", "evil com"), ("evil\u{FF0E}com", "evil com"),
    ("evil\u{FF61}com", "evil com"), ("a\u{FF20}evil.com", "a evil com"),
    ("https://evil.com/x", "https   evil com x"), ("mailto:a@b.c", "mailto a b c"),
    ("https\u{FF1A}\u{FF0F}\u{FF0F}evil", "https   evil"), ("evil\\x", "evil x"),
  ])
  func `addresses are taken apart`(name: String, shown: String) {
    #expect(SafeName.unlinked(name) == shown)
  }

  @Test(arguments: [
    "iPhone 15 Pro", "Ada’s phone (work)", "v1.2 of 12:30", "Old phone: 123456", "Galaxy S9+",
    "Dr. Müller", "電話",
  ])
  func `other names stay as they are`(name: String) {
    #expect(SafeName.unlinked(name) == name)
  }

  @Test func `the last digits of a serial number are left`() {
    #expect(SafeName.unlinked("YubiKey 5C 12345678") == "YubiKey 5C …5678")
  }
}
