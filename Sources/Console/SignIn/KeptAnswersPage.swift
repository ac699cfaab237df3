import HTTP
import Identity
import Localization
import Templating
import Text

/// `/sign-in/answers`: lets an administrator resubmit a form whose session had expired.
struct KeptAnswersPage: Sendable {
  let authorizer: RequestAuthorizer
  let frames: Frames
  let view: Template<KeptAnswersView>
  /// The routes that the page can link to.
  let destinations: [Route]

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let draft = await authorizer.drafts.find(for: signedIn.administrator.id, signedIn.request)
    guard let draft else { return .redirect(to: ConsolePaths.projects()) }
    let frame = frames.frame(Message("sign-in.your-form-was-saved"), for: signedIn)
    return .html(
      view.render(
        KeptAnswersView(
          frame: FrameView(frame), csrf: signedIn.session.csrfToken, draft: draft,
          leave: ReturnAddress.checked(draft.path, among: destinations)
            ?? ConsolePaths.projects())))
  }
}

struct KeptAnswersView: ViewModel {
  let frame: FrameView
  let csrf: String
  let draft: Drafts.Draft
  let leave: String

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .text("action") { $0.draft.path },
    .text(\.leave),
    .list("answers") {
      $0.draft.answers.map { KeptAnswer(name: $0.name.text, value: $0.value.text) }
    },
    .flag("lacksSecrets") { $0.draft.lacksSecrets },
  ]
}

struct KeptAnswer: ViewModel {
  let name: String
  let value: String

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.value),
  ]
}
