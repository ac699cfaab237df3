import HTTP
import Identity

/// What follows an action of the desk.
struct SupportRedirect: Sendable {
  let frames: Frames
  let cookies: ConsoleCookies

  /// Says on the next page what was done, and gives the browser its session's new name when the
  /// agent gave a code for it.
  func response(
    _ flash: Flash, _ signedIn: SignedIn, renewed: NewConsoleSession?, to path: String
  ) -> Response {
    frames.leave(flash, for: renewed?.session ?? signedIn.session)
    var response = Response.redirect(to: path)
    if let renewed { keep(renewed, in: &response) }
    return response
  }

  /// The same for an answer that is itself a page.
  func keep(_ renewed: NewConsoleSession, in response: inout Response) {
    response.fields.add(.setCookie, cookies.session(renewed.token.revealedText).description)
  }
}
