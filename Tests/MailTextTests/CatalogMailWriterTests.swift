import Foundation
import MailText
import Testing

@testable import Identity
@testable import Localization

struct CatalogMailWriterTests {
  private let english = Catalog.english
  private let writer = CatalogMailWriter([.english, .pseudo()])

  private func link(
    _ kind: OutOfBandCode.Kind, newEmail: String? = nil, factor: String? = nil
  ) -> MailContent {
    .actionLink(
      ActionLinkMail(
        kind: kind, project: "Acme", email: "ada@example.com", newEmail: newEmail, factor: factor,
        link: "https://mfa.example.com/x"))
  }

  @Test(arguments: [
    (nil, "en"), ("", "en"), ("en", "en"), ("de-AT", "en"), ("en-XA", "en-XA"), ("en_xa", "en-XA"),
    ("\u{0};q=x,,", "en"),
  ])
  func `the language is that of the best catalog`(locale: String?, language: String) {
    #expect(writer.language(for: locale) == language)
  }

  @Test func `a message is in the language that was asked for`() {
    let mail = writer.write(link(.signIn), in: "en-XA")
    #expect(mail.language == "en-XA" && mail.subject.hasPrefix("⟦"))
    #expect(mail.body.contains("https://mfa.example.com/x"))
    #expect(writer.write(link(.signIn), in: "tlh").language == "en")
  }

  @Test func `an action link has its reason and its lifetime`() {
    let mail = writer.write(link(.passwordReset), in: "en")
    #expect(mail.subject == "Choose a new password for Acme")
    #expect(
      mail.body == """
        Follow this link to choose a new password for the account ada@example.com at Acme:

        https://mfa.example.com/x

        The link can be used once and expires in one hour. If you didn't request it, you can \
        ignore this email.

        """)
    let revert = writer.write(link(.revertFactor, factor: "a\nb"), in: "en").body
    #expect(revert.contains("The second factor “a b” was added to the account ada@example.com"))
    #expect(revert.contains("expires in 7 days. If you did this, no action is needed."))
    let removed = writer.write(link(.recoverEmail), in: "en").body
    #expect(removed.contains("The email address ada@example.com was removed from your account"))
    let changed = writer.write(link(.changeEmail, newEmail: "a@b.example"), in: "en").body
    #expect(changed.contains("to a@b.example. Until you do, it stays ada@example.com."))
    let verified = writer.write(link(.changeEmail), in: "en").body
    #expect(verified.contains("to confirm that ada@example.com is your email address at Acme:"))
    #expect(changed.contains("expires in 3 days."))
  }

  @Test func `a text message has no subject`() {
    let text = writer.write(.verificationCode(code: "123456", project: "Acme"), in: "en")
    #expect(text.subject.isEmpty)
    #expect(text.body == "123456 is your verification code for Acme.")
  }

  @Test(arguments: [
    (UserNotice(.factorsRemoved, ["phone"]), "The second factor “phone” was removed."),
    (UserNotice(.factorsRemoved, ["a", "b"]), "The second factors “a” and “b” were removed."),
    (
      UserNotice(.factorRenamed, ["a", "b.example"]),
      "The second factor “a” was renamed to “b example”."
    ),
    (UserNotice(.recoveryCodeUsed, left: 0), "Your last recovery code was used to sign in."),
    (
      UserNotice(.recoveryCodeUsed, left: 1),
      "A recovery code was used to sign in. 1 recovery code is left."
    ),
    (
      UserNotice(.recoveryCodeUsed, left: 2),
      "A recovery code was used to sign in. 2 recovery codes are left."
    ),
    (
      UserNotice(.factorSuspended, ["a"], until: Instant(microseconds: 1_795_252_320_000_000)),
      "The second factor “a” was suspended through Nov 21, 2026, 09:12\u{00A0}UTC."
    ),
  ])
  func `a change is a sentence`(notice: UserNotice, sentence: String) {
    #expect(english.text(notice.sentence) == sentence)
  }

  @Test func `a clause of an earlier version is shown as it is`() {
    let fact = ReportedChange.Fact.clause("the second factor “phone” was removed")
    #expect(english.text(fact.sentence) == "The second factor “phone” was removed.")
  }

  @Test func `dates are in the form of the mail's locale`() {
    // A translation without messages.
    let german = Catalog(locale: "de", formats: Formats(locale: "de"))
    let notice = UserNotice(.temporaryCodeMade, until: Instant(microseconds: 1_795_252_320_000_000))
    #expect(german.text(notice.sentence).contains("until 21. Nov. 2026, 09:12\u{00A0}UTC"))
    let pattern = PolicyChange.Value.pattern(.mandatory, from: Day("2026-12-01"))
    #expect(german.text(pattern.message) == "Mandatory from 1. Dez. 2026")
  }

  @Test func `settings of a policy are words`() {
    #expect(english.text(PolicyChange.Value.totp(.mandatory).message) == "on (mandatory)")
    #expect(
      english.text(PolicyChange.Value.adjacentIntervals(.standard).message) == "5 (default)")
    #expect(
      english.text(PolicyChange.Value.pattern(.mandatory, from: Day("2026-12-01")).message)
        == "Mandatory from Dec 1, 2026")
  }
}
