import Crypto
import HTTP
import Identity
import Localization

struct SignInCompletion: Sendable {
  let authorizer: RequestAuthorizer
  let frames: Frames

  /// Sets the cookies of the session and redirects to the form of `next` stored when the previous
  /// session expired, or else to `next`.
  ///
  /// Without `next`, it redirects to the newest stored form, or else to the projects.
  func response(
    _ new: NewConsoleSession, _ visitor: Visitor, to next: String? = nil,
    among destinations: [Route] = []
  ) async -> Response {
    let session = new.session
    let draft = await authorizer.drafts.find(
      continuingTo: next, among: destinations, for: session.administrator.id, visitor.request)
    if session.secondFactor == .dueNext { frames.adviseSecondFactor(session) }
    var response = Response.redirect(
      to: draft.map { KeptAnswersPage.address($0.mark) } ?? next ?? ConsolePaths.projects())
    response.fields.add(.setCookie, authorizer.cookies.session(new.token.revealedText).description)
    // Without the device token, the next sign-in is only treated as one from an unknown device.
    if let device = try? authorizer.identity.consoleSessions.deviceToken(
      for: session.administrator.id, replacing: authorizer.cookies.devices(of: visitor.request))
    {
      let cookie = authorizer.cookies.device(device.revealedText, of: session.administrator.id)
      response.fields.add(.setCookie, cookie.description)
    }
    if let theme = authorizer.cookies.newTheme(session.preferences.theme, for: visitor.request) {
      response.fields.add(.setCookie, theme.description)
    }
    if authorizer.cookies.pending(of: visitor.request) != nil {
      response.fields.add(.setCookie, authorizer.cookies.endOfPending.description)
    }
    return response
  }
}

extension Frames {
  fileprivate func adviseSecondFactor(_ session: ConsoleSession) {
    let flash = Flash(
      text: Message("Your role requires a second factor starting with your next sign-in."),
      link: Link(text: Message("Set it up now"), href: ConsolePaths.ownFactor()))
    leave(flash, for: session)
  }
}
