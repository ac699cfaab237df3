/// What becomes of a user's sessions, in sentences.
enum SessionWords {
  /// How many ended.
  static func ended(_ count: Int) -> String {
    count == 0
      ? "No session was open." : "\(Words.count(count, "session has", "sessions have")) ended."
  }

  /// How many will end; `none` is the sentence for when none is open.
  static func ending(_ count: Int, none: String) -> String {
    count == 0
      ? none
      : "\(Words.count(count, "session ends", "sessions end")) at once. A token that an application already holds may count there for up to an hour."
  }
}
