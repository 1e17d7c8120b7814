export const english = {
  newVersion: "A new version of this page is ready.",
  offlineAsOf: "Offline: values as of {time}",
  reload: "Reload",
} as const;

export const turkish: Record<keyof typeof english, string> = {
  newVersion: "Bu sayfanın yeni bir sürümü hazır.",
  offlineAsOf: "Çevrimdışı: değerler {time} itibarıyla",
  reload: "Yenile",
};
