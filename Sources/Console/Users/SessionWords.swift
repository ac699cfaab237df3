/// Sentences about ending a user's sessions.
enum SessionWords {
  /// Returns how many sessions were ended.
  static func ended(_ count: Int) -> String {
    count == 0
      ? "There were no active sessions." : "\(Words.count(count, "session", "sessions")) ended."
  }

  /// Returns how many sessions will end; `none` is the sentence for no active sessions.
  static func ending(
    _ count: Int, none: String = "There are no active sessions."
  ) -> String {
    count == 0
      ? none
      : "\(Words.count(count, "session ends", "sessions end")) immediately. ID tokens already issued to applications can stay valid for up to an hour."
  }
}
