import HTTP
import Identity

/// What an agent does to a whole account, each with a page of its own that asks first.
enum AccountAct: Sendable {
  /// `S/users/{uid}/unlock`
  case unlock
  /// `S/users/{uid}/sessions/end`
  case endSessions
  /// `S/users/{uid}/protection`: protects, or takes that back.
  case protection
  /// `S/users/{uid}/allowed-changes`
  case allowChanges
  /// `S/users/{uid}/disabling`
  case disabling
  /// `S/users/{uid}/enabling`
  case enabling
  /// `S/users/{uid}/verification`: marks the email address as the user's.
  case verification
  /// `S/users/{uid}/deletion`
  case deletion

  /// The same for the rules.
  var action: ConsoleAction {
    switch self {
    case .unlock: .unlockCodes
    case .endSessions: .endSessions
    case .protection: .protectUser
    case .allowChanges: .allowChanges
    case .disabling: .disableUser
    case .enabling: .enableUser
    case .verification: .verifyEmail
    case .deletion: .deleteUser
    }
  }

  var permission: Permission { action.requirements.permission }

  private var path: ScopePath1 {
    switch self {
    case .unlock: ConsolePaths.unlock
    case .endSessions: ConsolePaths.endOfSessions
    case .protection: ConsolePaths.protection
    case .allowChanges: ConsolePaths.allowedChanges
    case .disabling: ConsolePaths.disabling
    case .enabling: ConsolePaths.enabling
    case .verification: ConsolePaths.verification
    case .deletion: ConsolePaths.deletion
    }
  }

  /// True when there is nothing to do.
  func isDone(_ account: Account) -> Bool {
    switch self {
    case .unlock: account.wrongCodes == 0 && account.codesBlockedUntil == nil
    case .allowChanges: account.changesLockedAt == nil
    case .disabling: account.disabled
    case .enabling: !account.disabled
    case .verification: account.email == nil || account.emailVerified
    case .endSessions, .protection, .deletion: false
    }
  }

  /// What the page asks.
  ///
  /// `notice` says whether the user is told.
  func question(
    _ account: Account, sessions: Int, notice: String?, _ context: ScopeContext
  ) -> SupportConfirmation {
    var question = asked(account, sessions: sessions, notice: notice, context)
    question.permission = permission
    switch self {
    case .unlock, .deletion: break
    case .endSessions, .protection, .allowChanges, .disabling, .enabling, .verification:
      question.passesLock = true
    }
    return question
  }

  private func asked(
    _ account: Account, sessions: Int, notice: String?, _ context: ScopeContext
  ) -> SupportConfirmation {
    let action = path(context.scope, account.id.text)
    let name = account.label
    let open = SessionWords.ending(sessions, none: "No session is open.")
    switch self {
    case .unlock:
      var question = SupportConfirmation(
        title: "Unlock the codes", heading: HTML.heading("Unlock the codes of", name),
        consequences: [
          "\(Words.count(account.wrongCodes, "wrong code", "wrong codes")) in a row \(account.wrongCodes == 1 ? "is" : "are") forgotten, and codes are looked at again at once.",
          "Wrong codes may have been somebody else’s guesses: ask the user.",
          notice,
        ].compactMap { $0 }, button: "Unlock the codes", keep: "Leave them locked",
        action: action)
      question.isDestructive = false
      question.reasons = [.locked, .mistake, .other]
      return question
    case .endSessions:
      var question = SupportConfirmation(
        title: "End all sessions", heading: HTML.heading("End all sessions of", name),
        consequences: [
          open, "The user can sign in again at once.",
          sessions == 0 ? nil : notice,
        ].compactMap { $0 }, button: "End all sessions", keep: "Leave them open",
        action: action)
      question.reasons = [.lost, .stolen, .compromised, .left, .other]
      return question
    case .protection where account.isProtected:
      var question = SupportConfirmation(
        title: "End the protection", heading: HTML.heading("End the protection of", name),
        consequences: ["Everybody whose role allows it can act on this account again."],
        button: "End the protection", keep: "Keep it", action: action)
      question.reasons = [.left, .mistake, .other]
      return question
    case .protection:
      var question = SupportConfirmation(
        title: "Protect the account", heading: HTML.heading("Protect", name),
        consequences: [
          "Only owners can act on this account from then on; support still sees it and writes notes.",
          "It is for accounts that open much, such as those of managers.",
        ], button: "Protect the account", keep: "Leave it", action: action)
      question.isDestructive = false
      question.reasons = [.compromised, .other]
      return question
    case .allowChanges:
      let since = account.changesLockedAt.map(context.signedIn.times.words) ?? ""
      var question = SupportConfirmation(
        title: "Allow changes again", heading: HTML.heading("Allow changes again for", name),
        consequences: [
          "On \(since) the user said that a change of their second factors was none of theirs. Since then nobody changes them.",
          "Find out what happened first: the history says who changed what. Speak to the user in a way that you trust.",
          "Second factors of this account can then be removed, suspended and unlocked as usual.",
          notice,
        ].compactMap { $0 }, button: "Allow changes again", keep: "Keep them locked", action: action
      )
      question.reasons = [.found, .mistake, .other]
      return question
    case .disabling:
      var question = SupportConfirmation(
        title: "Disable the user", heading: HTML.heading("Disable", name),
        consequences: [
          "The user cannot sign in until they are enabled again.", open,
        ], button: "Disable the user", keep: "Leave them enabled", action: action)
      question.reasons = [.left, .compromised, .stolen, .other]
      return question
    case .enabling:
      var question = SupportConfirmation(
        title: "Enable the user", heading: HTML.heading("Enable", name),
        consequences: [
          "The user may sign in again, with the password and the second factors of before.",
          "The history says who disabled the account, and why.",
        ], button: "Enable the user", keep: "Leave them disabled", action: action)
      question.isDestructive = false
      question.reasons = [.found, .mistake, .other]
      return question
    case .verification:
      var question = SupportConfirmation(
        title: "Verify the email",
        heading: HTML.heading("Mark the email of", name, " as verified?"),
        consequences: [
          "From then on the address is taken for the user’s own: links to set an authenticator app up go to it, and the user can enroll.",
          "Say in the note how it is known. A mail from the application in which the user follows a link is the better way.",
        ], button: "Mark the email as verified", keep: "Leave it as it is", action: action)
      question.isDestructive = false
      question.reasons = [.other, .mistake]
      return question
    case .deletion:
      let factors = account.factors.map { "“\(Words.isolated($0.label))”" }.joined(separator: ", ")
      var question = SupportConfirmation(
        title: "Delete the user", heading: HTML.heading("Delete", name),
        consequences: [
          "The account goes, with its password, name and claims.",
          account.factors.isEmpty
            ? "It has no second factor."
            : "\(Words.count(account.factors.count, "second factor goes", "second factors go")): \(factors).",
          open,
          notice,
          "It cannot be undone. What was done to the account stays in the audit log.",
        ].compactMap { $0 }, button: "Delete the user", keep: "Keep the user", action: action)
      question.reasons = [.left, .mistake, .other]
      question.confirmation = ConfirmationField(
        account: account, typed: context.signedIn.form.trimmed("confirmation"))
      return question
    }
  }

  /// Does it.
  ///
  /// - Returns: What was done, in a sentence, and the session's new name.
  func perform(
    _ account: Account, _ support: Support, in scope: Scope, _ request: ActionRequest
  ) async throws(ActionDenial) -> (text: String, renewed: NewConsoleSession?) {
    let id = account.id
    switch self {
    case .unlock:
      let done = try await support.unlock(scope, id, request)
      return ("Codes of this user are looked at again.", done.renewed)
    case .endSessions:
      let done = try await support.endSessions(scope, id, request)
      return (SessionWords.ended(done.value), done.renewed)
    case .protection:
      let done = try await support.protect(scope, id, !account.isProtected, request)
      return (
        account.isProtected
          ? "The account is not protected any more."
          : "The account is protected: only owners act on it.", done.renewed
      )
    case .allowChanges:
      let done = try await support.allowChanges(scope, id, request)
      return ("Second factors of this user can be changed again.", done.renewed)
    case .disabling:
      let done = try await support.disable(scope, id, request)
      return (
        "The user is disabled and cannot sign in. \(SessionWords.ended(done.value))", done.renewed
      )
    case .enabling:
      let done = try await support.enable(scope, id, request)
      return ("The user is enabled and may sign in again.", done.renewed)
    case .verification:
      let done = try await support.verifyEmail(scope, id, request)
      return ("The email address is marked as verified.", done.renewed)
    case .deletion:
      let done = try await support.delete(scope, id, request)
      return ("Deleted the user \(Words.isolated(account.label)).", done.renewed)
    }
  }
}
