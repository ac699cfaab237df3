/// A notice in words: what was done to which account of which application, when, what follows, and
/// what to do about it.
struct NoticeText {
  let notice: UserNotice
  let application: String
  /// The account's own address; nil for a reader at another one, who is not told it.
  let email: String?
  let at: Instant
  /// Where to say that it was none of theirs; nil where support is to be told.
  let reportedChange: String?

  var subject: String {
    let done =
      switch notice {
      case .factorsRemoved(let names) where names.count > 1: "your second factors were removed"
      case .factorWithdrawn, .factorsRemoved, .factorReverted: "a second factor was removed"
      case .factorsAdded(let names):
        names.count > 1 ? "second factors were added" : "a second factor was added"
      case .factorEnrolled: "a second factor was enrolled"
      case .factorsRestored(let names):
        names.count > 1 ? "your second factors were put back" : "a second factor was put back"
      case .factorSuspended: "a second factor was suspended"
      case .factorResumed: "a second factor counts again"
      case .factorRenamed: "a second factor has another name"
      case .changesAllowed: "your second factors can be changed again"
      case .codesUnlocked: "your codes count again"
      case .sessionsEnded: "you were signed out everywhere"
      case .temporaryCodeMade: "a temporary code was made"
      case .temporaryCodeEnded: "a temporary code was ended"
      case .recoveryCodesMade: "new recovery codes were made"
      case .recoveryCodesVoided: "your recovery codes were ended"
      case .recoveryCodeUsed: "a recovery code was used"
      case .enrollmentLinkSent: "a link to set an authenticator app up was sent"
      case .factorEnrolledByLink: "an authenticator app was set up"
      case .passwordChanged: "your password was changed"
      case .providerLinked: "another way to sign in was added"
      case .emailChanged: "your email address was changed"
      case .accountDeleted: "your account was deleted"
      }
    return "\(application): \(done)"
  }

  var body: String {
    """
    Hello,

    \(happened)

    \(consequence)

    \(advice)

    This mail is about the safety of \(account). It cannot be switched off, and answers to it are \
    not read.

    """
  }

  private var account: String {
    email.map { "your account \($0) at \(application)" }
      ?? "your account at \(application), which this address is on file for"
  }

  private var happened: String {
    switch notice {
    case .providerLinked(let name):
      """
      since \(at.formatted) \(account) can be signed in to with \(Self.plain(name)) as well.
      """
    case .passwordChanged:
      "the password of \(account) was changed on \(at.formatted). \(byOthers)"
    case .emailChanged:
      """
      your account at \(application) has another email address since \(at.formatted): \
      \(email ?? "this") is not its address any more. \(byOthers)
      """
    case .accountDeleted: "\(account) was deleted on \(at.formatted). \(byOthers)"
    case .factorWithdrawn:
      """
      \(notice.fact) from \(account) on \(at.formatted), by somebody who was signed in to your account.
      """
    case .factorReverted:
      """
      \(notice.fact) from \(account) on \(at.formatted), by the link in the mail that had told of it.
      """
    case .factorsAdded: "\(notice.fact) to \(account) on \(at.formatted). \(byOthers)"
    case .factorEnrolled:
      """
      \(notice.fact) for \(account) on \(at.formatted), by somebody who was signed in to your account.
      """
    case .factorsRemoved: "\(notice.fact) from \(account) on \(at.formatted). \(byOthers)"
    case .recoveryCodesMade, .recoveryCodeUsed:
      "on \(at.formatted), \(notice.fact). It concerns \(account). \(byUser)"
    case .factorEnrolledByLink:
      "on \(at.formatted), \(notice.fact). It concerns \(account)."
    default: "on \(at.formatted), \(notice.fact). It concerns \(account). \(byOthers)"
    }
  }

  private var byOthers: String {
    "This was done for you, by the support of \(application) or by one of its programs."
  }

  private var byUser: String { "This was done by somebody who signed in to your account." }

  private var consequence: String {
    switch notice {
    case .factorWithdrawn:
      "From now on nobody is asked for a code of it when you sign in."
    case .factorReverted:
      """
      From now on nobody is asked for a code of it when you sign in. You have been signed out \
      everywhere.
      """
    case .factorsAdded, .factorEnrolled:
      "From now on a code of it can be asked for when you sign in."
    case .factorsRemoved:
      """
      From now on nobody is asked for a code of it when you sign in. You have been signed out \
      everywhere.
      """
    case .factorsRestored:
      "From now on you are asked for a code of it again when you sign in."
    case .factorSuspended:
      """
      You are still asked for a code when you sign in, and codes of it do not let anybody in for \
      that time. The suspension ends by itself.
      """
    case .factorRenamed:
      "From now on the new name is shown when a code of it is asked for. Its codes count as before."
    case .changesAllowed:
      "From now on second factors of your account can be removed and added as before."
    case .factorResumed, .codesUnlocked:
      "From now on codes of your authenticator app let you in as before."
    case .sessionsEnded: "You sign in anew, with your password and your second factor."
    case .temporaryCodeMade:
      "Whoever asks you for the code is not one of us: it is for nobody but you."
    case .temporaryCodeEnded: "It does not let anybody in any more."
    case .recoveryCodesMade: "Each of them lets you in once when your device is gone."
    case .recoveryCodesVoided: "None of them lets anybody in any more."
    case .recoveryCodeUsed: "It does not count a second time."
    case .enrollmentLinkSent: "The link counts for thirty minutes, and once."
    case .factorEnrolledByLink: "From now on you are asked for a code of it when you sign in."
    case .passwordChanged:
      "The old password does not count any more. You have been signed out everywhere."
    case .providerLinked:
      "Whoever can sign in there can sign in to your account from now on."
    case .emailChanged:
      "Mails about the account go to the new address. You have been signed out everywhere."
    case .accountDeleted:
      "Nobody can sign in to it any more. You have been signed out everywhere."
    }
  }

  private var advice: String {
    guard let reportedChange else {
      return """
        If this was neither you nor done at your request, somebody may be trying to get into your \
        account: tell the support of \(application) at once.
        """
    }
    return Self.advice(reportedChange, application)
  }

  /// What to do when it was not the user.
  static func advice(_ reportedChange: String, _ application: String) -> String {
    """
    If this was neither you nor done at your request, open this page within seven days and say so:

    \(reportedChange)

    You are then signed out everywhere, nobody can change your second factors until it was looked \
    into, and those who answer for \(application) are told.
    """
  }

  /// The name of the application, and of the tenant where there is one.
  static func application(_ scope: Scope) -> String {
    scope.tenant == nil
      ? plain(scope.projectName) : "\(plain(scope.projectName)) (\(plain(scope.name)))"
  }

  /// A name that its user chose freely, as it may stand in a mail to addresses which others may read:
  /// in one line, and without what mail programs make links of.
  static func unlinked(_ name: String, longest: Int = Factor.longestName) -> String {
    var result = String.UnicodeScalarView()
    let scalars = Array(plain(name).unicodeScalars.prefix(longest))
    for (index, scalar) in scalars.enumerated() {
      let next = index + 1 < scalars.count ? scalars[index + 1] : " "
      switch scalar {
      case "@", "/", "\\": result.append(" ")
      case ".", ":", "\u{3002}", "\u{FF0E}", "\u{FF61}":
        result.append(next.properties.isAlphabetic || next == "/" ? " " : scalar)
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  /// A name in one line, without marks that turn the text around it.
  static func plain(_ name: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      switch scalar.value {
      case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: result.append(" ")
      case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: continue
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}
