import HTTP
import Identity

/// What follows a sign-in, by whichever page it came about.
struct SessionStart: Sendable {
  let gate: Gate
  let frames: Frames

  /// Gives the browser its session and leads on: to what was typed before the last session ran out,
  /// or else to `path`.
  func response(_ new: NewConsoleSession, _ visitor: Visitor, to path: String) -> Response {
    let session = new.session
    let draft = gate.drafts.find(
      for: session.administrator.id, browser: visitor.formToken, at: frames.clock.now())
    if session.secondFactor == .dueNext { frames.adviseSecondFactor(session) }
    var response = Response.redirect(to: draft == nil ? path : ConsolePaths.keptAnswers())
    response.fields.add(.setCookie, gate.cookies.session(new.token.revealedText).description)
    // Without it the next sign-in is counted as that of an unknown device, and no more.
    if let device = try? gate.identity.consoleSessions.deviceToken(
      for: session.administrator.id, replacing: gate.cookies.devices(of: visitor.request))
    {
      let cookie = gate.cookies.device(device.revealedText, of: session.administrator.id)
      response.fields.add(.setCookie, cookie.description)
    }
    if gate.cookies.pending(of: visitor.request) != nil {
      response.fields.add(.setCookie, gate.cookies.endOfPending.description)
    }
    return response
  }
}

extension Frames {
  /// Says on the next page that the role will ask for a second factor.
  fileprivate func adviseSecondFactor(_ session: ConsoleSession) {
    let flash = Flash(
      text: "From your next sign-in on your role needs a second factor.",
      link: Link(text: "Set it up now", href: ConsolePaths.ownFactor()))
    leave(flash, for: session)
  }
}
