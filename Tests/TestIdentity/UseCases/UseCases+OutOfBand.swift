import Crypto
import Identity
import Testing

extension UseCase {
  static let outOfBand: [UseCase] = [
    UseCase("email a code", []) { i in
      _ = try await i.account(.alice)
      return { _ = try await i.code(.passwordReset) }
    },
    UseCase("email a code to an unknown address", []) { i in
      {
        _ = try await i.identity.outOfBandCodes.send(
          OutOfBandRequest(.passwordReset, for: .email("nobody@example.com")), in: i.acme,
          hidingUsers: true, from: "a")
      }
    },
    UseCase("generate a link", [.accountLink]) { i in
      _ = try await i.account(.alice)
      return {
        _ = try await i.identity.outOfBandCodes.link(
          OutOfBandRequest(.verifyEmail, for: .email(Person.alice.email)), in: i.acme,
          by: Instance.boss)
      }
    },
    UseCase("check a code", []) { i in
      _ = try await i.account(.alice)
      let code = try await i.code(.verifyEmail)
      return {
        _ = try await i.identity.outOfBandCodes.look(at: code)
        _ = try await i.identity.outOfBandCodes.remains(of: code)
      }
    },
    UseCase("reset a password", [.accountResetPassword]) { i in
      _ = try await i.account(.alice, isVerified: false)
      let code = try await i.code(.passwordReset)
      return {
        _ = try await i.identity.outOfBandCodes.resetPassword(
          code, to: Secret("a new password"), by: Instance.visitor)
      }
    },
    UseCase("verify an email address", [.accountVerifyEmail]) { i in
      _ = try await i.account(.alice, isVerified: false)
      let code = try await i.code(.verifyEmail)
      return { _ = try await i.identity.outOfBandCodes.apply(code, by: Instance.visitor) }
    },
    UseCase("change an email address with a code", [.accountChangeEmail]) { i in
      _ = try await i.account(.alice)
      let code = try await i.code(.changeEmail, newEmail: "new@example.com")
      return { _ = try await i.identity.outOfBandCodes.apply(code, by: Instance.visitor) }
    },
    UseCase("restore an email address", [.accountRecoverEmail]) { i in
      _ = try await i.account(.alice)
      let code = try await i.code(.changeEmail, newEmail: "new@example.com")
      _ = try await i.identity.outOfBandCodes.apply(code, by: Instance.visitor)
      let back = try #require(try await i.mails("recover-email").last).code
      return { _ = try await i.identity.outOfBandCodes.apply(back, by: Instance.visitor) }
    },
    UseCase("revert an enrollment", [.factorRevert]) { i in
      _ = try await i.enrolled(.alice)
      let code = try #require(try await i.mails("revert-factor").last).code
      return { _ = try await i.identity.outOfBandCodes.apply(code, by: Instance.visitor) }
    },
    UseCase("sign up with an email link", [.accountSignUp]) { i in
      try await i.allow(emailLink: true)
      return try await signInByLink(i)
    },
    UseCase("sign in with an email link for the first time", [.accountVerifyEmail]) { i in
      try await i.allow(emailLink: true)
      _ = try await i.account(.alice, isVerified: false)
      return try await signInByLink(i)
    },
    UseCase("add sign-in by email link to a verified account", [.accountChange]) { i in
      try await i.allow(emailLink: true)
      _ = try await i.account(.alice)
      return try await signInByLink(i)
    },
    UseCase("sign in by email link again", []) { i in
      try await i.allow(emailLink: true)
      _ = try await i.linked(.alice)
      return try await signInByLink(i)
    },
    UseCase("end sign-in by email link", [.accountChange]) { i in
      try await i.allow(emailLink: true)
      let account = try await i.linked(.alice)
      var change = AccountChange()
      change.password = .clear
      return { [change] in
        try await i.identity.accounts.update(i.acme, account, change, by: Instance.boss)
      }
    },
    UseCase("add an email address to an account", [.accountChangeEmail]) { i in
      try await i.allow(emailLink: true)
      let session = try await i.identity.signIns.signUp(
        i.acme, NewAccount(), by: Instance.visitor
      ).session
      let code = try await i.code(.signIn)
      return {
        _ = try await i.identity.signIns.emailLink(
          i.acme, email: Person.alice.email, code: code, linking: session, by: Instance.visitor)
      }
    },
  ]

  /// Emails Alice a sign-in link, and returns the sign-in with it.
  private static func signInByLink(_ i: Instance) async throws -> Act {
    let code = try await i.code(.signIn)
    return {
      _ = try await i.identity.signIns.emailLink(
        i.acme, email: Person.alice.email, code: code, by: Instance.visitor)
    }
  }
}

extension Instance {
  /// Creates a user who only signs in by email link, and returns their UID.
  fileprivate func linked(_ person: Person) async throws -> ID<Account> {
    let done = try await identity.signIns.emailLink(
      acme, email: person.email, code: try await code(.signIn, person), by: Self.visitor)
    guard case .signedIn(let grant) = done.outcome else { throw Unexpected("not signed in") }
    return grant.account.id
  }
}
